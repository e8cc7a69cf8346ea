/** Calls of non-blocking tools as tasks, in processes that share a database, and that die. */
import { expect } from 'chai';
import { InFlightRequests } from '../../../../imports/api/http/InFlightRequests';
import { toLLMError } from '../../../../imports/api/http/toLLMError';
import { toMcpCaller } from '../../../../imports/business/mcp/api/McpCaller';
import { McpTools } from '../../../../imports/business/mcp/api/McpTools';
import { ToolTasks } from '../../../../imports/business/mcp/api/ToolTasks';
import { ToolCaller } from '../../../../imports/business/ai/application/services/ToolCaller';
import { LLMConnectionError, StorageFullError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import type { JsonObject } from '../../../../imports/business/ai/domain/types/VendorTypes';
import { DocumentToolTasks } from '../../../../imports/business/ai/infrastructure/persistence/toolTasks/DocumentToolTasks';
import {
  openToolTasks,
  TOOL_TASKS,
} from '../../../../imports/business/ai/infrastructure/persistence/toolTasks/DocumentToolTasks';
import { ToolRegistry } from '../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { QUICK_DATABASES } from '../../../support/documentDatabases';
import type { TestDatabase } from '../../../support/documentDatabases';
import { failure } from '../../../support/failure';
import { RecordingLogger } from '../../../support/RecordingLogger';
import { until } from '../../../support/until';

const ANN = toMcpCaller({ userId: 'ann', scopes: ['generate'] }, new AbortController().signal);
const BOB = toMcpCaller({ userId: 'bob', scopes: ['generate'] }, new AbortController().signal);

interface Process {
  readonly tasks: ToolTasks;
  readonly inFlight: InFlightRequests;
}

for (const [name, open] of Object.entries(QUICK_DATABASES)) {
  describe(`calls of tools as tasks, stored in ${name}`, () => {
    let opened: TestDatabase;
    let store: DocumentToolTasks;
    let calls: number;
    let finish: (result: string) => void;
    let aborted: unknown;
    let isFull: boolean;
    const processes: Process[] = [];

    /** @param lostAfter milliseconds */
    const start = (lostAfter = 60_000, shared = store, isExclusive = false): Process => {
      const tools = new ToolRegistry().register({
        name: 'report',
        blocking: false,
        execute: (_, { progress, signal }) => {
          calls += 1;
          progress(0.25, 'reading');
          signal.addEventListener('abort', () => {
            aborted = signal.reason;
          });
          return new Promise<string>((resolve, reject) => {
            finish = resolve;
            signal.addEventListener('abort', () => reject(new Error('aborted')));
          });
        },
      });
      const logger = new RecordingLogger();
      const inFlight = new InFlightRequests();
      const mcpTools = new McpTools({ caller: new ToolCaller({ tools, logger }), runTools: [], offered: () => ['*'] });
      const toError = (thrown: unknown) => toLLMError(thrown, () => undefined);
      const storage = {
        admit: () => (isFull ? Promise.reject(new StorageFullError('Full.')) : Promise.resolve(() => undefined)),
      };
      const tasks = new ToolTasks({
        ...{ tools: mcpTools, storage, inFlight, toError, logger, lostAfter, confirmEvery: 10 },
        store: isExclusive
          ? new Proxy(shared, { get: (of, key): unknown => key === 'isExclusive' || Reflect.get(of, key) })
          : shared,
      });
      processes.push({ tasks, inFlight });
      return { tasks, inFlight };
    };
    const begin = async ({ tasks }: Process): Promise<string> =>
      String((await tasks.start('report', {}, ANN))?.['taskId']);
    const stateOf = async ({ tasks }: Process, id: string): Promise<JsonObject> => (await tasks.find(id, ANN)) ?? {};

    beforeEach(async () => {
      [calls, aborted, isFull] = [0, undefined, false];
      opened = await open();
      await openToolTasks(opened.database);
      store = new DocumentToolTasks(opened.database.collection(TOOL_TASKS), false);
    });
    afterEach(async () => {
      for (const { inFlight, tasks } of processes.splice(0)) {
        await inFlight.close(0, 2_000, () => undefined);
        await tasks.close();
      }
      await opened.close();
    });

    it('end with a result that every process tells, and nobody else’s user', async () => {
      const [here, there] = [start(), start()];
      const id = await begin(here);
      expect(await stateOf(here, id)).to.include({ status: 'working', statusMessage: '25 %: reading' });
      await until(async () => (await stateOf(there, id))['statusMessage'] === '25 %: reading');
      expect(await there.tasks.find(id, BOB)).to.equal(undefined);
      expect(await there.tasks.cancel(id, BOB)).to.equal(false);
      finish('the report');
      await until(async () => (await stateOf(there, id))['status'] === 'completed');
      const ended = { status: 'completed', result: { content: [{ type: 'text', text: 'the report' }] } };
      expect(await stateOf(here, id)).to.deep.include(ended);
      expect(await stateOf(there, id)).to.deep.include(ended);
      expect(calls).to.equal(1);
    });

    it('are aborted if another process cancels them, and stay cancelled', async () => {
      const [here, there] = [start(), start()];
      const id = await begin(here);
      expect(await there.tasks.cancel(id, ANN)).to.equal(true);
      await until(() => aborted !== undefined);
      finish('too late');
      await until(() => here.inFlight.size === 0);
      expect(await stateOf(here, id)).to.include({ status: 'cancelled' });
    });

    it('have failed once their process is dead, whatever it still says, and are not run again', async () => {
      const [dead, next, other] = [start(), start(0), start()];
      const id = await begin(dead);
      expect(await stateOf(other, id)).to.include({ status: 'working' });
      const lost = await stateOf(next, id);
      expect(lost).to.deep.include({
        status: 'failed',
        error: {
          code: -32_603,
          message: 'The process that ran the tool has ended. Whether the tool took effect is not known.',
        },
      });
      finish('the report');
      await until(() => dead.inFlight.size === 0);
      expect(await stateOf(other, id)).to.deep.equal(lost);
      expect(calls).to.equal(1);
    });

    it('are refused, and not run, for a user whose storage is full', async () => {
      isFull = true;
      const { tasks } = start();
      expect(await failure(tasks.start('report', {}, ANN))).to.be.instanceOf(StorageFullError);
      expect([calls, await opened.database.collection(TOOL_TASKS).count({})]).to.deep.equal([0, 0]);
    });

    it('have failed at once where no other process can run them', async () => {
      const id = await begin(start());
      expect(await stateOf(start(60_000, store, true), id)).to.include({ status: 'failed' });
    });

    it('end with a shutdown that does not wait for them', async () => {
      const here = start();
      const id = await begin(here);
      await here.inFlight.close(0, 2_000, () => undefined);
      expect(await stateOf(start(), id)).to.deep.include({
        status: 'failed',
        error: { code: -32_603, message: 'The server is shutting down. Whether the tool took effect is not known.' },
      });
    });

    it('keep a result until the store takes it', async () => {
      let failures = 2;
      class FailingStore extends DocumentToolTasks {
        override end(...args: Parameters<DocumentToolTasks['end']>): Promise<boolean> {
          failures -= 1;
          return failures >= 0 ? Promise.reject(new LLMConnectionError('No database.')) : super.end(...args);
        }
      }
      const here = start(60_000, new FailingStore(opened.database.collection(TOOL_TASKS), false));
      const id = await begin(here);
      finish('the report');
      await until(async () => (await stateOf(here, id))['status'] === 'completed');
      expect(failures).to.be.lessThan(0);
      expect(here.inFlight.size).to.equal(0);
    });
  });
}
