/**
 * Counts the commands that a run sends to MongoDB: `npm run bench:stores [-- --save]`. The server is the one at
 * MONGO_URL, else the minimal stand-in of the tests. The counts do not depend on the machine.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { MongoClient } from 'mongodb';
import { createAIModule } from '../imports/business/ai/infrastructure/factories/createAIModule';
import { MongoDatabase } from '../imports/database/mongo/MongoDatabase';
import { openRunStore } from '../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { ToolRegistry } from '../imports/business/ai/infrastructure/tools/ToolRegistry';
import { BUILD, bundle } from './bundle';
import { MODELS, TOOL, weather } from './Contender';
import { mongoUrl } from './mongoUrl';
import { saveSection, table } from './resultsPage';
import { workload } from './workloads';

/** Loops with one call a turn, and with four. The runs of a row differ only in their turns. */
const ROWS = [
  { title: 'a turn with one call', short: 'W5s', long: 'W5' },
  { title: 'a turn with four calls', short: 'W1', long: 'W3' },
] as const;
const HEAD = ['work', 'goal', 'round trips one after another', 'commands'];

interface Counts {
  readonly commands: number;
  /** Commands that were sent while no other was under way. */
  readonly roundTrips: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { save: { type: 'boolean', default: false } } });
  const children: ChildProcess[] = [];
  await bundle([]);
  const simulator = fork(path.join(BUILD, 'simulator.js'));
  children.push(simulator);
  const [port] = (await once(simulator, 'message')) as [number];
  const client = new MongoClient(await mongoUrl(children), { monitorCommands: true });
  try {
    await client.connect();
    const count = counter(client);
    const runs = await openRunStore(new MongoDatabase(client));
    const measure = async (id: string): Promise<Counts> => {
      const module = createAIModule(
        {
          providers: [
            {
              vendor: 'openai',
              apiKey: 'bench',
              baseURL: `http://127.0.0.1:${port}/${id}/openai`,
              allowPrivateHosts: true,
            },
          ],
        },
        { runs, tools: new ToolRegistry().register({ ...TOOL, execute: weather }) },
      );
      const execute = (): Promise<unknown> =>
        module.loop.execute('bench', {
          model: `openai/${MODELS.openai}`,
          input: 'How is the weather today?',
          tools: [TOOL.name],
          maxIterations: 100,
        });
      // The first run opens connections.
      await execute();
      const counts = await count(execute);
      await module.close();
      return counts;
    };
    const rows: string[][] = [];
    const whole = await measure('W1');
    rows.push(['a run of one response', '≤ 4.0', whole.roundTrips.toFixed(1), whole.commands.toFixed(1)]);
    for (const { title, short, long } of ROWS) {
      const [before, after] = [await measure(short), await measure(long)];
      const turns = (workload(long).turns ?? 0) - (workload(short).turns ?? 0);
      const each = (field: keyof Counts): string => ((after[field] - before[field]) / turns).toFixed(1);
      rows.push([title, '≤ 2.0', each('roundTrips'), each('commands')]);
    }
    console.log(table(HEAD, rows));
    if (values.save)
      await saveSection({
        title: 'Run store on MongoDB',
        intro:
          '`npm run bench:stores -- --save`: the commands that a run of its own sends. Those that are sent while another is under way add no round trip.',
        head: HEAD,
        keys: 1,
        rows,
      });
  } finally {
    await client.close();
    await Promise.all(children.map(end));
  }
}

/** @returns what counts the commands of some work, until the last of them has been answered */
function counter(client: MongoClient): (work: () => Promise<unknown>) => Promise<Counts> {
  let [commands, roundTrips, underWay] = [0, 0, 0];
  let onIdle: (() => void) | undefined;
  client.on('commandStarted', () => {
    commands += 1;
    if (underWay === 0) roundTrips += 1;
    underWay += 1;
  });
  const end = (): void => {
    underWay -= 1;
    if (underWay === 0) onIdle?.();
  };
  client.on('commandSucceeded', end);
  client.on('commandFailed', end);
  return async (work) => {
    [commands, roundTrips] = [0, 0];
    await work();
    if (underWay > 0) await new Promise<void>((resolve) => (onIdle = resolve));
    onIdle = undefined;
    return { commands, roundTrips };
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
