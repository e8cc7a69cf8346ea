/** How many commands a run sends to MongoDB: for its start, per turn and for its end. */
import { expect } from 'chai';
import { MongoClient } from 'mongodb';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import type { ILLMProvider } from '../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { Item } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { MongoDatabase } from '../../imports/database/mongo/MongoDatabase';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { CAPABILITIES } from '../../imports/testing/capabilities';
import { answer, callItem, response } from '../../imports/testing/responses';
import { startTestMongo } from '../support/startTestMongo';
import type { TestMongo } from '../support/startTestMongo';
import { inFlowingTime } from '../support/VirtualTime';

const CALLS = 4;
const TURNS = 10;

/** Calls four tools in each of its turns, and answers. */
function turns(count: number, onCall: () => void): ILLMProvider {
  return {
    getProviderName: () => 'counter',
    getCapabilities: () => CAPABILITIES,
    validateAccess: () => Promise.resolve({ valid: true }),
    stream: () => {
      throw new Error('Streaming is not expected here.');
    },
    async generate(_userId, options) {
      onCall();
      const calls = (options.input as readonly Item[]).filter(({ type }) => type === 'function_call').length;
      if (calls === count * CALLS) return answer('done');
      return response({
        output: Array.from({ length: CALLS }, (_call, index) =>
          callItem({ name: 'look', call_id: `c${calls + index}`, arguments: { at: calls + index } }),
        ),
      });
    },
  };
}

describe(
  'a run in MongoDB',
  inFlowingTime(() => {
    let mongo: TestMongo;
    let client: MongoClient;
    /** Names of commands and collections; `model` for a call of the model. */
    let sent: string[] = [];

    before(async () => {
      mongo = await startTestMongo();
      client = new MongoClient(mongo.url, { monitorCommands: true });
      client.on('commandStarted', ({ commandName, command }) => {
        const values: readonly unknown[] = Object.values(command);
        const collection = values[0];
        if (commandName !== 'endSessions') sent.push(`${commandName} ${String(collection)}`);
      });
      await client.connect();
    });
    after(async () => {
      await client.db().dropDatabase();
      await client.close();
      await mongo.stop();
    });

    async function commandsOf(count: number): Promise<readonly string[]> {
      const store = await openRunStore(new MongoDatabase(client));
      const loop = new AgenticLoop({
        provider: turns(count, () => sent.push('model')),
        toolExecutor: new ToolRegistry().register({ name: 'look', execute: () => 'something' }),
        runStore: store,
        maxIterations: 100,
        // No heartbeat during the test but the first.
        leaseTimes: { lease: 7_200_000, heartbeat: 3_600_000 },
      });
      sent = [];
      const { executionId } = await loop.execute('ann', { model: 'm', input: 'go', tools: ['look'] });
      const commands = [...sent];
      const { calls } = (await store.load(executionId))!;
      expect(calls.map(({ state, deliveredIn }) => [state, deliveredIn !== undefined])).to.deep.equal(
        Array.from({ length: count * CALLS }, () => ['completed', true]),
      );
      await loop.close();
      return commands;
    }

    it('sends four commands before the model is called for the first time', async () => {
      const commands = await commandsOf(1);
      expect(commands.slice(0, commands.indexOf('model'))).to.deep.equal([
        'update ai_run_owners',
        'insert ai_run_owners',
        'insert ai_runs',
        'update ai_runs',
      ]);
    });

    it('waits for two round trips per turn, whatever the number of calls, and writes the calls meanwhile', async () => {
      const commands = await commandsOf(TURNS);
      const countOf = (name: string): number => commands.filter((each) => each === name).length;
      // Before each model call and before the tools of each turn, and the end.
      expect(countOf('update ai_runs')).to.equal(2 * TURNS + 2);
      // The calls of a turn may go with those of the next, where the store is slow.
      expect(countOf('update ai_tool_calls')).to.be.at.most(2 * TURNS + 1);
      expect(commands.slice(0, commands.lastIndexOf('model'))).to.include('update ai_tool_calls');
      // New calls are checked against the run's owner.
      expect(countOf('find ai_runs')).to.be.within(1, TURNS);
      expect([...new Set(commands)]).to.have.members([
        'update ai_run_owners',
        'insert ai_run_owners',
        'insert ai_runs',
        'model',
        'update ai_runs',
        'update ai_tool_calls',
        'find ai_runs',
      ]);
    });
  }),
);
