/** Tools of MCP servers that ask a person, over both ways in which the protocol lets them. */
import { expect } from 'chai';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { AgenticLoop } from '../../../../imports/business/ai/application/services/AgenticLoop';
import type { ToolCall } from '../../../../imports/business/ai/domain/entities/Tool';
import { mcp } from '../../../../imports/business/mcp/mcp';
import { MemoryRunStore } from '../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { McpElicitations } from '../../../../imports/business/mcp/infrastructure/McpElicitations';
import { ToolRegistry } from '../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling } from '../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../imports/testing/ScriptedProvider';
import { failure } from '../../../support/failure';
import { serveMcp, withSessions } from '../../../support/mcp/serveMcp';
import type { ServedMcp } from '../../../support/mcp/serveMcp';
import { createState, createTestServer } from '../../../support/mcp/testServer';
import { recordEvents } from '../../../support/recordEvents';
import { RecordingLogger } from '../../../support/RecordingLogger';
import { until } from '../../../support/until';

for (const revision of ['2026-07-28', '2025-11-25'] as const)
  describe(`a tool of an MCP server that asks a person, with the revision ${revision}`, () => {
    const state = createState();
    let served: ServedMcp;
    let registry: ToolRegistry;
    const handler = createMcpHandler(() => createTestServer(state));
    before(async () => {
      const withoutProbe = withSessions(() => createTestServer(state, [revision]));
      served = await serveMcp((request) =>
        revision === '2026-07-28' ? handler.fetch(request) : withoutProbe(request),
      );
      registry = new ToolRegistry();
      await registry.addSource(mcp({ name: 't', url: served.url, allowPrivateHosts: ['127.0.0.1'], timeout: 10_000 }));
    });
    after(async () => {
      await registry.closeSources();
      await handler.close();
      await served.close();
    });

    const start = async (tool: string, runStore?: MemoryRunStore) => {
      const provider = new ScriptedProvider([calling({ name: tool, call_id: 'a' }), answer('done')]);
      const logger = new RecordingLogger();
      const loop = new AgenticLoop({ provider, toolExecutor: registry, logger, ...(runStore ? { runStore } : {}) });
      const record = recordEvents(loop);
      const { done, executionId } = await loop.start('ann', { model: 'm', input: 'go', tools: [tool] });
      done.catch(() => undefined);
      await record.seen('tool:input_required');
      return { loop, done, executionId, record };
    };
    const resultOf = (calls: readonly ToolCall[]): unknown => {
      const [call] = calls;
      return call?.state === 'completed' ? JSON.parse(call.result) : call;
    };

    it('goes on with the values that are submitted, checked, and completed with defaults', async () => {
      const { loop, done, executionId, record } = await start('t_book');
      const asked = record.events.find(({ type }) => type === 'tool:input_required');
      expect(asked).to.have.nested.property('input.message', 'The MCP server "t" asks: For how many?');
      const refused = failure(loop.submitToolResult(executionId, 'a', { output: { seats: 0 } }));
      expect(await refused).to.include({ code: 'invalid-request', path: 'output' });
      expect(await failure(loop.approve(executionId, 'a'))).to.include({ code: 'invalid-request', path: 'output' });
      await loop.submitToolResult(executionId, 'a', { output: { seats: 2 } });
      expect(resultOf((await done).toolCalls)).to.deep.equal({
        action: 'accept',
        content: { seats: 2, outside: true },
      });
    });

    it('is told when the person declines', async () => {
      const { loop, done, executionId } = await start('t_book');
      await loop.reject(executionId, 'a', 'No.');
      expect(resultOf((await done).toolCalls)).to.deep.equal({ action: 'decline' });
    });

    it('waits for an approval if only yes or no is asked', async () => {
      const { loop, done, executionId } = await start('t_confirm');
      await loop.approve(executionId, 'a');
      expect((await done).toolCalls[0]).to.include({ result: 'accept' });
    });

    it('shows the page that it wants visited, and never visits it', async () => {
      const { loop, done, executionId, record } = await start('t_sign_in');
      expect(record.events.find(({ type }) => type === 'tool:input_required')).to.have.nested.property(
        'input.url',
        'https://example.com/sign-in',
      );
      await loop.approve(executionId, 'a');
      expect(resultOf((await done).toolCalls)).to.deep.equal({ action: 'accept' });
    });

    it('is declined where nobody can answer', async () => {
      const result = await registry.execute(
        't_book',
        {},
        {
          signal: new AbortController().signal,
          userId: 'ann',
          callId: 'c',
          executionId: 'e',
          idempotencyKey: 'e:c',
          progress: () => undefined,
        },
      );
      expect(result).to.equal('{"action":"decline"}');
    });

    it('is not given the model', async () => {
      const provider = new ScriptedProvider([calling({ name: 't_ask_model', call_id: 'a' }), answer('done')]);
      const loop = new AgenticLoop({ provider, toolExecutor: registry });
      const { toolCalls } = await loop.execute('ann', { model: 'm', input: 'go', tools: ['t_ask_model'] });
      expect(toolCalls[0]?.state).to.equal('failed');
    });

    if (revision === '2026-07-28')
      it('waits on in another process, and goes on there with what it was told', async () => {
        const store = new MemoryRunStore();
        const first = await start('t_book', store);
        const { executionId } = first;
        await until(async () => (await store.load(executionId))?.calls[0]?.checkpoint !== undefined);
        await first.loop.close();
        state.calls.length = 0;
        const provider = new ScriptedProvider([answer('done')]);
        const loop = new AgenticLoop({
          provider,
          toolExecutor: registry,
          runStore: store,
          logger: new RecordingLogger(),
        });
        const done = loop.resume(executionId);
        await until(() => loop.local.has(executionId));
        await loop.submitToolResult(executionId, 'a', { output: { seats: 3 } });
        const { toolCalls } = await done;
        expect(resultOf(toolCalls)).to.deep.equal({ action: 'accept', content: { seats: 3, outside: true } });
        expect(state.calls).to.deep.equal([
          'book',
          'booked {"action":"accept","content":{"seats":3,"outside":true}} table 7',
        ]);
        expect(toolCalls[0]).not.to.have.property('checkpoint');
      });
    else
      it('goes to review in another process, since what it asked is forgotten', async () => {
        const store = new MemoryRunStore();
        const first = await start('t_book', store);
        const { executionId } = first;
        await until(async () => (await store.load(executionId))?.calls[0]?.state === 'executing');
        await first.loop.close();
        const provider = new ScriptedProvider([answer('done')]);
        const loop = new AgenticLoop({
          provider,
          toolExecutor: registry,
          runStore: store,
          logger: new RecordingLogger(),
        });
        const record = recordEvents(loop);
        const done = loop.resume(executionId);
        await record.seen('tool:needs_review');
        await loop.reject(executionId, 'a', 'No.');
        expect((await done).toolCalls[0]?.state).to.equal('failed');
      });
  });

describe('a request of a server to a person', () => {
  const params = { message: 'Sure?', requestedSchema: { type: 'object', properties: {} } };
  const callOf = (asked: string[], name: string) => ({
    ask: () => {
      asked.push(name);
      return Promise.resolve({ action: 'accept', values: {} } as const);
    },
  });

  it('is shown with the only call that can have caused it', async () => {
    const elicitations = new McpElicitations('t');
    const client = {} as never;
    const asked: string[] = [];
    const endAnn = elicitations.begin(client, callOf(asked, 'ann'));
    elicitations.begin(client, callOf(asked, 'ben'));
    const answered = elicitations.answer(client, params);
    await Promise.resolve();
    expect(asked).to.deep.equal([]);
    endAnn();
    expect(await answered).to.have.property('action', 'accept');
    expect(asked).to.deep.equal(['ben']);
  });

  it('is declined if that cannot be told, and outside of calls', async () => {
    const elicitations = new McpElicitations('t');
    const client = {} as never;
    const asked: string[] = [];
    expect(await elicitations.answer(client, params)).to.deep.equal({ action: 'decline' });
    elicitations.begin(client, callOf(asked, 'ann'));
    elicitations.begin(client, callOf(asked, 'ben'));
    const answers = await Promise.all([elicitations.answer(client, params), elicitations.answer(client, params)]);
    expect(answers).to.deep.equal([{ action: 'decline' }, { action: 'decline' }]);
    expect(asked).to.deep.equal([]);
  });
});
