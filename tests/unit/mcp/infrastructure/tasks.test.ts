/** Calls of which an MCP server makes tasks, in both revisions that have them. */
import { expect } from 'chai';
import { AgenticLoop } from '../../../../imports/business/ai/application/services/AgenticLoop';
import { mcp } from '../../../../imports/business/mcp/mcp';
import type { McpOptions } from '../../../../imports/business/mcp/mcp';
import { MemoryRunStore } from '../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling } from '../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../imports/testing/ScriptedProvider';
import { serveTasks } from '../../../support/mcp/serveTasks';
import type { TaskServer } from '../../../support/mcp/serveTasks';
import { recordEvents } from '../../../support/recordEvents';
import { RecordingLogger } from '../../../support/RecordingLogger';
import { until } from '../../../support/until';
import { itInVirtualTime } from '../../../support/itInVirtualTime';

for (const revision of ['2026-07-28', '2025-11-25'] as const)
  describe(`a call of which an MCP server makes a task, with the revision ${revision}`, () => {
    let server: TaskServer;
    const registries: ToolRegistry[] = [];
    beforeEach(async () => {
      server = await serveTasks(revision);
    });
    afterEach(async () => {
      for (const registry of registries.splice(0)) await registry.closeSources();
      await server.close();
    });

    const connect = async (options: Partial<McpOptions> = {}): Promise<ToolRegistry> => {
      const registry = new ToolRegistry();
      const allowPrivateHosts = ['127.0.0.1'];
      registries.push(registry);
      await registry.addSource(mcp({ name: 't', url: server.url, allowPrivateHosts, ...options }));
      return registry;
    };
    const start = async (toolExecutor: ToolRegistry, runStore?: MemoryRunStore) => {
      const provider = new ScriptedProvider([
        calling({ name: 't_report', call_id: 'a' }),
        answer('later'),
        answer('ok'),
      ]);
      const logger = new RecordingLogger();
      const loop = new AgenticLoop({ provider, toolExecutor, logger, ...(runStore ? { runStore } : {}) });
      const record = recordEvents(loop);
      const { done, executionId } = await loop.start('ann', { model: 'm', input: 'go', tools: ['t_report'] });
      done.catch(() => undefined);
      return { loop, done, executionId, record };
    };

    itInVirtualTime('lets the model go on, shows what the server says, and delivers the result', async () => {
      const { done, record } = await start(await connect());
      await until(() => record.events.filter(({ type }) => type === 'llm:response').length === 2);
      await record.seen('tool:progress');
      server.finish();
      const { toolCalls, transcript } = await done;
      expect(toolCalls[0]).to.include({ state: 'completed', result: 'the report', blocking: false });
      expect(toolCalls[0]?.progress).to.deep.equal({ fraction: 0, note: 'halfway' });
      expect(transcript.filter((item) => item.type === 'function_call_output')).to.have.length(2);
      expect(server.created).to.deep.equal(['task-1']);
    });

    itInVirtualTime('is waited for if the tool is to block', async () => {
      server.finish();
      const { done, record } = await start(await connect({ tools: { report: { blocking: true } } }));
      await record.seen('tool:completed');
      expect(record.events.filter(({ type }) => type === 'llm:response')).to.have.length(1);
      expect((await done).toolCalls[0]).to.include({ blocking: true, result: 'the report' });
    });

    itInVirtualTime('goes on in another process, which delivers the result once', async () => {
      const store = new MemoryRunStore();
      const first = await start(await connect(), store);
      await until(() => server.polls > 1);
      await first.loop.close();
      const provider = new ScriptedProvider([answer('ok')]);
      const toolExecutor = await connect();
      const loop = new AgenticLoop({ provider, toolExecutor, runStore: store, logger: new RecordingLogger() });
      const done = loop.resume(first.executionId);
      const { polls } = server;
      await until(() => server.polls > polls + 1);
      server.finish();
      const { toolCalls, transcript } = await done;
      expect(toolCalls[0]).to.include({ state: 'completed', result: 'the report', blocking: false });
      expect(transcript.filter((item) => item.type === 'function_call_output' && item.deferred)).to.have.length(1);
      expect(server.created).to.deep.equal(['task-1']);
      expect(server.cancelled).to.deep.equal([]);
    });

    itInVirtualTime('is cancelled at the server when the run is', async () => {
      const { loop, executionId, record } = await start(await connect());
      await record.seen('tool:progress');
      await loop.cancel(executionId);
      await until(() => server.cancelled.length === 1);
      expect(server.cancelled).to.deep.equal(['task-1']);
    });

    itInVirtualTime('has a time limit of its own', async () => {
      const { done } = await start(await connect({ timeout: 10_000, taskTimeout: 150 }));
      expect((await done).toolCalls[0]).to.include({ state: 'timeout' });
      await until(() => server.cancelled.length === 1);
    });

    itInVirtualTime('is asked about again after the server was away', async () => {
      const { done, record } = await start(await connect({}));
      await record.seen('tool:progress');
      await server.close();
      const again = await serveTasks(revision, Number(new URL(server.url).port));
      again.finish();
      expect((await done).toolCalls[0]).to.include({ result: 'the report' });
      server = again;
    });

    if (revision === '2026-07-28')
      itInVirtualTime('asks a person meanwhile', async () => {
        server.asks = true;
        const { loop, done, executionId, record } = await start(await connect());
        await record.seen('tool:input_required');
        await loop.approve(executionId, 'a');
        await until(() => server.updates.length === 1);
        expect(server.updates).to.deep.equal([{ sure: { action: 'accept', content: {} } }]);
        server.finish();
        expect((await done).toolCalls[0]).to.include({ result: 'the report' });
      });
  });
