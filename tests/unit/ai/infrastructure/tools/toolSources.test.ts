/** Tools of sources: they appear, change and leave while runs use them. */
import { expect } from 'chai';
import { AgenticLoop } from '../../../../../imports/business/ai/application/services/AgenticLoop';
import { RunRecovery } from '../../../../../imports/business/ai/application/services/RunRecovery';
import type { SourceTool, ToolSource } from '../../../../../imports/business/ai/domain/interfaces/ToolSource';
import { MemoryRunStore } from '../../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling } from '../../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../../imports/testing/ScriptedProvider';
import { failure } from '../../../../support/failure';
import { RecordingLogger } from '../../../../support/RecordingLogger';
import { recordEvents } from '../../../../support/recordEvents';
import { until } from '../../../../support/until';

class ListSource implements ToolSource {
  readonly name: string;
  tools: readonly SourceTool[];
  closed = 0;
  failure: Error | undefined;
  private readonly listeners = new Set<() => void>();

  constructor(name: string, tools: readonly SourceTool[]) {
    this.name = name;
    this.tools = tools;
  }

  async list(): Promise<readonly SourceTool[]> {
    await Promise.resolve();
    if (this.failure !== undefined) throw this.failure;
    return this.tools;
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  change(tools: readonly SourceTool[]): void {
    this.tools = tools;
    for (const listener of this.listeners) listener();
  }

  get listenerCount(): number {
    return this.listeners.size;
  }

  close(): Promise<void> {
    this.closed += 1;
    return Promise.resolve();
  }
}

const look = (description: string, fields: Partial<SourceTool> = {}): SourceTool => ({
  name: 'look',
  description,
  execute: () => description,
  ...fields,
});

describe('tool sources', () => {
  let registry: ToolRegistry;
  let logger: RecordingLogger;
  beforeEach(() => {
    registry = new ToolRegistry();
    logger = new RecordingLogger();
  });
  const names = (): readonly string[] => registry.tools.map(({ name }) => name);

  it('are followed: tools appear, change and leave', async () => {
    const source = new ListSource('s', [look('one')]);
    await registry.addSource(source);
    const before = registry.getToolDefinition('look');
    source.change([look('one'), { name: 'see', execute: () => 1 }]);
    await until(() => names().length === 2);
    // What did not change keeps its definition, on which runs and caches rely.
    expect(registry.getToolDefinition('look')).to.equal(before);
    source.change([look('two')]);
    await until(() => names().length === 1);
    expect(registry.getToolDefinition('look')).to.include({ description: 'two' });
    expect(await registry.removeSource('s')).to.equal(true);
    expect(names()).to.deep.equal([]);
    expect(source).to.include({ closed: 1, listenerCount: 0 });
    expect(await registry.removeSource('s')).to.equal(false);
  });

  it('never replace tools of others, and a name counts once', async () => {
    registry.register({ name: 'look', description: 'ours', execute: () => 'ours' });
    await registry.addSource(new ListSource('a', [look('stolen'), { name: 'x', execute: () => 1 }]), logger);
    await registry.addSource(
      new ListSource('b', [{ name: 'x', execute: () => 2 }, look('z', { name: 'y' }), look('w', { name: 'y' })]),
      logger,
    );
    expect(registry.getToolDefinition('look')).to.include({ description: 'ours' });
    expect(registry.execute('x', {}, {} as never)).to.equal(1);
    expect(registry.getToolDefinition('y')).to.include({ description: 'z' });
    expect(logger.warnings).to.have.length(3);
    await registry.removeSource('b');
    expect(names()).to.deep.equal(['look', 'x']);
    expect(() => registry.addSource(new ListSource('a', []))).to.throw('has been added already');
  });

  it('leave out what is invalid, and keep their tools while they cannot be listed', async () => {
    const source = new ListSource('s', [look('one'), { name: 'not a name', execute: () => 1 }]);
    await registry.addSource(source, logger);
    expect(names()).to.deep.equal(['look']);
    source.failure = new Error('connection refused');
    source.change([]);
    await until(() => logger.warnings.some((line) => line.includes('connection refused')));
    expect(names()).to.deep.equal(['look']);
  });

  it('are followed although the first listing fails', async () => {
    const source = new ListSource('s', [look('one')]);
    source.failure = new Error('connection refused');
    expect(await failure(registry.addSource(source))).to.include({ message: 'connection refused' });
    source.failure = undefined;
    source.change(source.tools);
    await until(() => names().length === 1);
  });

  it('may lose a tool that a run offers: its call fails, and the run goes on', async () => {
    const source = new ListSource('s', [look('one')]);
    await registry.addSource(source);
    const provider = new ScriptedProvider([calling({ name: 'look', call_id: 'c' }), answer('done')]);
    const loop = new AgenticLoop({ provider, toolExecutor: registry });
    loop.on('run:started', () => registry.unregister('look'));
    const { response, toolCalls } = await loop.execute('ann', { model: 'm', input: 'go', tools: ['look'] });
    expect(response.output_text).to.equal('done');
    expect(toolCalls[0]).to.deep.include({ state: 'failed' });
    expect(toolCalls[0]).to.have.nested.property('error.failure', 'unknown-tool');
  });

  describe('that change a tool during a run', () => {
    const runWith = async (onChange: SourceTool['onChange'], decide: 'approve' | 'change again' = 'approve') => {
      const rule = onChange === undefined ? {} : { onChange };
      const source = new ListSource('s', [look('one', rule)]);
      await registry.addSource(source);
      const provider = new ScriptedProvider([
        async () => {
          await change('two');
          return calling({ name: 'look', call_id: 'c' });
        },
        answer('done'),
      ]);
      const loop = new AgenticLoop({ provider, toolExecutor: registry });
      const record = recordEvents(loop);
      const change = (description: string): Promise<void> => {
        source.change([look(description, rule)]);
        return until(() => registry.getToolDefinition('look')?.description === description);
      };
      loop.on('tool:approval_required', ({ executionId, callId }) => {
        void (decide === 'approve' ? Promise.resolve() : change('three')).then(() => loop.approve(executionId, callId));
      });
      const { toolCalls } = await loop.execute('ann', { model: 'm', input: 'go', tools: ['look'] });
      return { call: toolCalls[0], asked: record.events.some(({ type }) => type === 'tool:approval_required') };
    };

    it('ask a person before the changed tool is called', async () => {
      const { call, asked } = await runWith('ask');
      expect(asked).to.equal(true);
      expect(call).to.include({ state: 'completed', result: 'two' });
    });

    it('are refused if the tool changes while its approval is awaited', async () => {
      const { call } = await runWith('ask', 'change again');
      expect(call).to.include({ state: 'failed' });
      expect(call).to.have.nested.property('error.message').that.includes('while its call waited for approval');
    });

    it('are refused by a tool that ends such runs, and called by one that does not mind', async () => {
      expect((await runWith('end')).call).to.have.nested.property('error.failure', 'rejected');
      await registry.removeSource('s');
      expect(await runWith(undefined)).to.deep.include({ asked: false });
    });
  });

  it('are waited for by stored runs that need their tools, although no other process uses the store', async () => {
    const store = new MemoryRunStore();
    const source = new ListSource('s', [look('one', { needsApproval: true })]);
    await registry.addSource(source);
    const first = new AgenticLoop({
      provider: new ScriptedProvider([calling({ name: 'look', call_id: 'c' })]),
      toolExecutor: registry,
      runStore: store,
    });
    const record = recordEvents(first);
    const { done } = await first.start('ann', { model: 'm', input: 'go', tools: ['look'], executionId: 'r' });
    done.catch(() => undefined);
    await record.seen('tool:approval_required');
    await first.close();

    const later = new ToolRegistry();
    const down = new ListSource('s', source.tools);
    down.failure = new Error('down');
    await failure(later.addSource(down));
    const loop = new AgenticLoop({
      provider: new ScriptedProvider([answer('done')]),
      toolExecutor: later,
      runStore: store,
    });
    const recovery = new RunRecovery({ loop, store });
    expect(await recovery.scan()).to.equal(0);
    expect((await store.load('r'))?.run.awaitedTools?.names).to.deep.equal(['look']);
    down.failure = undefined;
    down.change(source.tools);
    await until(() => later.hasToolFunction('look'));
    expect(await recovery.scan()).to.equal(1);
    recovery.stop();
    await loop.close();
  });
});
