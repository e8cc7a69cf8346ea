/** The contract of an MCP server of the official SDK: its tools, resources and prompts, over each transport. */
import { expect } from 'chai';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { AgenticLoop } from '../../../imports/business/ai/application/services/AgenticLoop';
import { mcp } from '../../../imports/business/mcp/mcp';
import type { McpOptions } from '../../../imports/business/mcp/mcp';
import type { McpSource } from '../../../imports/business/mcp/infrastructure/McpSource';
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { ToolCallContext } from '../../../imports/business/ai/domain/interfaces/IToolExecutor';
import { answer, calling } from '../../../imports/testing/responses';
import { ScriptedProvider } from '../../../imports/testing/ScriptedProvider';
import { failure } from '../failure';
import { itInVirtualTime } from '../itInVirtualTime';
import { serveMcp, withSessions } from './serveMcp';
import type { ServedMcp } from './serveMcp';
import { createState, createTestServer, DOT } from './testServer';
import type { TestServerState } from './testServer';
import { RecordingLogger } from '../RecordingLogger';
import { recordEvents } from '../recordEvents';
import { until } from '../until';

export const SOURCE_REVISIONS = ['2026-07-28', '2025-11-25', '2025-06-18'] as const;
const STDIO_SERVER = {
  command: process.execPath,
  args: ['--require', 'tsx/cjs', 'tests/support/mcp/stdioServer.ts'],
};

export function describeMcpSource(transport: 'http' | 'stdio', revision: (typeof SOURCE_REVISIONS)[number]): void {
  describe(`an MCP server with ${transport} and the revision ${revision}`, () => {
    let state: TestServerState;
    let served: ServedMcp | undefined;
    let handler: ReturnType<typeof createMcpHandler> | undefined;
    let source: McpSource;
    let registry: ToolRegistry;
    let logger: RecordingLogger;
    before(async () => {
      state = createState();
      logger = new RecordingLogger();
      const isNewest = revision === '2026-07-28';
      let options: McpOptions;
      if (transport === 'http') {
        if (isNewest) handler = createMcpHandler(() => createTestServer(state));
        const withoutProbe = withSessions(() => createTestServer(state, [revision]));
        served = await serveMcp((request) => handler?.fetch(request) ?? withoutProbe(request));
        options = {
          name: 't',
          url: served.url,
          allowPrivateHosts: ['127.0.0.1'],
        };
      } else {
        const env = {
          TSX_TSCONFIG_PATH: 'tsconfig.node.json',
          ...(isNewest ? {} : { MCP_VERSION: revision }),
        };
        options = { name: 't', ...STDIO_SERVER, env };
      }
      source = mcp({
        ...options,
        logger,
        tools: { add: { idempotent: true } },
      });
      registry = new ToolRegistry();
      await registry.addSource(source, logger);
    });
    after(async () => {
      await registry.closeSources();
      await handler?.close();
      await served?.close();
    });

    const context = (fields: Partial<ToolCallContext> = {}): ToolCallContext => ({
      signal: new AbortController().signal,
      userId: 'ann',
      callId: 'c',
      executionId: 'e',
      idempotencyKey: 'e:c',
      progress: () => undefined,
      ...fields,
    });

    it('is connected with that revision', () => {
      expect(source.health).to.deep.include({
        state: 'connected',
        failures: 0,
        server: { name: 'test-server', version: '1.2.3' },
        protocolVersion: revision,
      });
    });

    it('offers its tools under names of ours', () => {
      const names = registry.tools.map(({ name }) => name);
      expect(names.slice(0, 6)).to.deep.equal(['t_add', 't_fail', 't_picture', 't_photo', 't_wait', 't_book']);
      expect(names.at(-1)).to.match(/^t_files_read_[0-9a-f]{8}$/);
      expect(registry.getToolDefinition('t_add')).to.include({
        description: 'Adds two numbers.',
        idempotent: true,
        onChange: 'ask',
        deferLoading: 'auto',
        untrusted: true,
      });
    });

    it('runs them for the loop, which validates the arguments', async () => {
      const provider = new ScriptedProvider([
        calling({ name: 't_add', call_id: 'a', arguments: '{"a":1}' }),
        calling({ name: 't_add', call_id: 'b', arguments: '{"a":1,"b":2}' }),
        answer('3'),
      ]);
      const loop = new AgenticLoop({ provider, toolExecutor: registry });
      const { toolCalls } = await loop.execute('ann', {
        model: 'm',
        input: '1+2',
        tools: ['t_add'],
      });
      expect(toolCalls[0]).to.have.nested.property('error.failure', 'invalid-arguments');
      expect(toolCalls[1]).to.include({
        state: 'completed',
        result: '{"sum":3}',
      });
    });

    it('maps errors, pictures, links and files', async () => {
      const failed = failure(Promise.resolve(registry.execute('t_fail', {}, context())));
      expect(await failed).to.include({
        failure: 'threw',
        message: 'No such file.',
      });
      expect(await registry.execute('t_picture', {}, context())).to.equal(
        'A dot:\n[image of the type image/png, 3 bytes, not shown]\n[resource test://notes: notes]\nRemember the milk.',
      );
    });

    it('shows images to models that see them, and none that is something else', async () => {
      const responses = () => [calling({ name: 't_photo', call_id: 'a' }), answer('A dot.')];
      for (const supportsVision of [true, false]) {
        const provider = new ScriptedProvider(responses(), {
          capabilities: { supportsVision },
        });
        const loop = new AgenticLoop({ provider, toolExecutor: registry });
        const { toolCalls, transcript } = await loop.execute('ann', {
          model: 'm',
          input: 'go',
          tools: ['t_photo'],
        });
        const text = 'A dot:\n[image of the type image/png, 70 bytes]';
        expect(toolCalls[0]).to.include({ state: 'completed', result: text });
        expect(transcript.find((item) => item.type === 'function_call_output')?.output).to.deep.equal(
          supportsVision
            ? [
                { type: 'input_text', text },
                {
                  type: 'input_image',
                  image_url: `data:image/png;base64,${DOT}`,
                },
              ]
            : `${text}\n[The images are not shown, because this model sees none.]`,
        );
      }
    });

    it('reports progress', async () => {
      const reported: unknown[] = [];
      const progress = (fraction: number, note?: string): void => void reported.push({ fraction, note });
      expect(await registry.execute('t_steps', {}, context({ progress }))).to.equal('done');
      expect(reported).to.deep.equal([{ fraction: 0.5, note: 'half' }]);
    });

    it('is told when a call is cancelled', async () => {
      const controller = new AbortController();
      const reason = new Error('enough');
      const call = failure(Promise.resolve(registry.execute('t_wait', {}, context({ signal: controller.signal }))));
      if (transport === 'http') await until(() => state.calls.includes('wait'));
      controller.abort(reason);
      expect(await call).to.equal(reason);
      if (transport === 'http') await until(() => state.cancelled.includes('wait'));
    });

    it('has resources and prompts to read', async () => {
      expect((await source.listResources()).map(({ uri }) => uri)).to.deep.equal(['test://notes']);
      expect(await source.readResource('test://notes')).to.deep.equal([
        { uri: 'test://notes', text: 'Remember the milk.' },
      ]);
      expect((await source.listPrompts()).map(({ name }) => name)).to.deep.equal(['greet']);
      const { messages } = await source.getPrompt('greet', { name: 'Ann' });
      expect(messages[0]?.content).to.deep.equal({
        type: 'text',
        text: 'Hello, Ann',
      });
    });

    if (transport === 'stdio')
      it('logs what it writes to its standard error', () => {
        expect(logger.infos.join()).to.include('MCP server "t": ready to serve');
      });

    if (transport === 'http')
      itInVirtualTime('changes tools during a run, and a person decides about the changed one', async () => {
        const change = (description: string | undefined): void => {
          state.change = description;
          handler?.notify.toolsChanged();
          if (handler !== undefined) return;
          for (const tool of state.changing.splice(0, description === undefined ? Infinity : 0)) tool.remove();
          for (const tool of state.changing) tool.update({ description: description! });
        };
        const provider = new ScriptedProvider([
          async () => {
            change('Says another thing.');
            await until(() => registry.getToolDefinition('t_change')?.description === state.change);
            return calling({ name: 't_change', call_id: 'a' });
          },
          answer('done'),
        ]);
        const loop = new AgenticLoop({ provider, toolExecutor: registry });
        const record = recordEvents(loop);
        const { done, executionId } = await loop.start('ann', {
          model: 'm',
          input: 'go',
          tools: ['t_change'],
        });
        await record.seen('tool:approval_required');
        await loop.approve(executionId, 'a');
        expect((await done).toolCalls[0]).to.include({
          state: 'completed',
          result: 'ok',
        });
        change(undefined);
        await until(() => !registry.hasToolFunction('t_change'));
      });
  });
}
