/** Loops, managers and agents that are created without an AI module are traced like those of one. */
import { trace } from '@opentelemetry/api';
import { expect } from 'chai';
import { AgenticLoop } from '../../../../../imports/business/ai/application/services/AgenticLoop';
import { LLMManager } from '../../../../../imports/business/ai/application/services/LLMManager';
import { setInstrumentation } from '../../../../../imports/business/ai/domain/interfaces/Instrumentation';
import { installTelemetry } from '../../../../../imports/business/ai/infrastructure/telemetry/installTelemetry';
import { ToolRegistry } from '../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { agent } from '../../../../../imports/library/Agent';
import { tool } from '../../../../../imports/library/tool';
import { answer, calling } from '../../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../../imports/testing/ScriptedProvider';
import { SpanRecorder } from '../../../../support/telemetry/SpanRecorder';

const RUN = ['invoke_agent', '  chat m', '  execute_tool look', '  chat m'];

describe('without an AI module', () => {
  const recorder = new SpanRecorder();
  before(() => installTelemetry());
  after(() => setInstrumentation(undefined));
  beforeEach(() => recorder.install());
  afterEach(() => recorder.uninstall());

  const script = (): ScriptedProvider => new ScriptedProvider([calling({ name: 'look' }), answer('ok')]);
  const tools = (): ToolRegistry => new ToolRegistry().register({ name: 'look', execute: () => 'seen' });

  it('a manager is traced', async () => {
    const manager = new LLMManager({ providers: { openai: new ScriptedProvider(['Hello', 'Hello again']) } });
    await manager.generateText('ann', 'hi', { model: 'openai/m' });
    for await (const _event of manager.stream('ann', { model: 'openai/m', input: 'hi' }));
    expect(recorder.tree()).to.deep.equal(['chat m', 'chat m']);
    expect(recorder.spans[0]?.attributes).to.include({ 'gen_ai.provider.name': 'openai', 'gen_ai.request.model': 'm' });
  });

  it('managers do not share their routes', async () => {
    const first = new LLMManager({ providers: { openai: new ScriptedProvider(['Hello']) } });
    new LLMManager({ providers: { anthropic: new ScriptedProvider([]) } });
    await first.generateText('ann', 'hi', { model: 'openai/m' });
    expect(recorder.only('chat m').attributes['gen_ai.provider.name']).to.equal('openai');
  });

  it('the runs of a manager are traced, below what is active', async () => {
    const manager = new LLMManager({ providers: { openai: script() }, toolExecutor: tools() });
    await trace.getTracer('app').startActiveSpan('request', async (span) => {
      await manager.generateWithTools('ann', 'go', ['look'], { model: 'openai/m' });
      span.end();
    });
    expect(recorder.tree()).to.deep.equal(['request', ...RUN.map((line) => `  ${line}`)]);
  });

  it('a loop is traced, with the calls of a provider that is no manager', async () => {
    const loop = new AgenticLoop({ provider: script(), toolExecutor: tools() });
    await loop.execute('ann', { model: 'm', input: 'go', tools: ['look'] });
    expect(recorder.tree()).to.deep.equal(RUN);
  });

  it('a loop traces the calls of a manager once', async () => {
    const loop = new AgenticLoop({
      provider: new LLMManager({ providers: { openai: script() } }),
      toolExecutor: tools(),
    });
    await loop.execute('ann', { model: 'openai/m', input: 'go', tools: ['look'] });
    expect(recorder.tree()).to.deep.equal(RUN);
  });

  it('an agent is traced', async () => {
    const look = tool({ name: 'look', description: 'Looks.', execute: () => 'seen' });
    await agent({ provider: script(), model: 'scripted/m', tools: [look] }).generate('go');
    expect(recorder.tree()).to.deep.equal(RUN);
  });

  it('what was created before the SDK is traced from then on, and no longer without one', async () => {
    recorder.uninstall();
    const provider = new ScriptedProvider(['Hello', calling({ name: 'look' }), answer('ok'), 'Bye']);
    const loop = new AgenticLoop({ provider, toolExecutor: tools() });
    const options = { model: 'm', input: 'go', tools: ['look'] };
    await loop.execute('ann', options);
    recorder.install();
    await loop.execute('ann', options);
    expect(recorder.tree()).to.deep.equal(RUN);
    recorder.uninstall();
    await loop.execute('ann', options);
    expect([recorder.spans.length, recorder.open]).to.deep.equal([0, 0]);
  });

  it('a run that nobody observes makes no events', async () => {
    recorder.uninstall();
    const loop = new AgenticLoop({ provider: script(), toolExecutor: tools() });
    const published: string[] = [];
    const emit = loop.emit.bind(loop);
    loop.emit = (type, ...args) => {
      published.push(type);
      return emit(type, ...args);
    };
    await loop.execute('ann', { model: 'm', input: 'go', tools: ['look'] });
    // A run is retired by its last one.
    expect(published).to.deep.equal(['run:completed', 'event']);
  });
});
