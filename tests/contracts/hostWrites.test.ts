/** How many commands a server's run sends to MongoDB, with budgets, and a stored provider with limits. */
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { MongoDatabase } from '../../imports/database/mongo/MongoDatabase';
import { describeInSoak } from '../support/soak';
import { ADA, FilledHost, SHARED_PROVIDER, actorOf } from '../support/FilledHost';
import { startTestMongo } from '../support/startTestMongo';
import type { TestMongo } from '../support/startTestMongo';

/** Collections of runs, and of what their model calls depend on, except those that are read from time to time. */
const COUNTED = ['ai_runs', 'ai_budgets', 'ai_providers', 'ai_credentials', 'ai_provider_usage'];

describeInSoak('a run of a server in MongoDB', () => {
  let mongo: TestMongo;
  let client: MongoClient;
  let host: FilledHost;
  let sent: string[] = [];
  let runs = 0;

  before(async () => {
    mongo = await startTestMongo();
    client = new MongoClient(mongo.url, { monitorCommands: true });
    client.on('commandStarted', ({ commandName, command }) => {
      const values: readonly unknown[] = Object.values(command);
      const isStatistics = commandName === 'update' && JSON.stringify(command).includes('"counted"');
      if (!isStatistics) sent.push(`${commandName} ${String(values[0])}`);
    });
    await client.connect();
    const database = new MongoDatabase(client);
    host = await FilledHost.start(() =>
      Promise.resolve({ database, expire: () => Promise.resolve(), close: () => database.close() }),
    );
    // The first run opens the accounts of its user.
    await commandsOf(1);
  });
  after(async () => {
    await client.db().dropDatabase();
    await host.stop();
    await mongo.stop();
  });

  /** @returns how often each command was sent, until the run's end was seen */
  async function commandsOf(turns: number): Promise<ReadonlyMap<string, number>> {
    for (let turn = 0; turn < turns; turn += 1)
      host.simulator.enqueue({ calls: [{ name: 'clock', arguments: { text: `${turn}` } }] });
    host.simulator.enqueue({ text: 'Done.' });
    sent = [];
    const { executionId } = await host.host.runs.methods['ai.runs.start'](actorOf(ADA), {
      requestId: `request-${(runs += 1)}`,
      providerId: SHARED_PROVIDER,
      input: 'What time is it?',
      tools: ['clock'],
    });
    await host.events.seen('run:completed', (event) => event.executionId === executionId);
    const counts = new Map<string, number>();
    for (const each of sent)
      if (COUNTED.some((name) => each.endsWith(` ${name}`))) counts.set(each, (counts.get(each) ?? 0) + 1);
    return counts;
  }

  it('reads no account in a turn, and each of what a call depends on as often as it must be known', async () => {
    const [short, long] = [await commandsOf(2), await commandsOf(6)];
    const each = (command: string): number => ((long.get(command) ?? 0) - (short.get(command) ?? 0)) / 4;
    // Before the model call and before the tools.
    expect(each('update ai_runs')).to.equal(2);
    // What the call may cost, and what it has cost.
    expect(each('update ai_budgets')).to.equal(2);
    expect(each('find ai_budgets')).to.equal(0);
    expect(each('find ai_credentials')).to.equal(1);
    // A request, and its tokens.
    expect(each('update ai_provider_usage')).to.be.within(1.5, 2.5);
    expect(each('insert ai_provider_usage')).to.equal(0);
  });
});
