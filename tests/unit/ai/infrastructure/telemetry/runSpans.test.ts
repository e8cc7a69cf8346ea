/** The trace of a run, as OpenTelemetry's SDK records it. */
import { context, trace } from '@opentelemetry/api';
import { expect } from 'chai';
import { LLMOverloadedError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import { MemoryRunStore } from '../../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { runAsTool } from '../../../../../imports/business/ai/infrastructure/tools/runAsTool';
import { answer, calling, usage } from '../../../../../imports/testing/responses';
import { problemsOf } from '../../../../support/telemetry/checkConventions';
import { SpanRecorder } from '../../../../support/telemetry/SpanRecorder';
import { tracedLoop } from '../../../../support/telemetry/tracedLoop';
import type { TracedLoop } from '../../../../support/telemetry/tracedLoop';
import type { TelemetrySettings } from '../../../../../imports/business/ai/infrastructure/telemetry/Telemetry';
import { IS_SOAK } from '../../../../support/soak';

/** The watch for planted secrets would find those of other tests in events, which have content. */
const MARKER = 'PlantedForSpans';
const SECRET = `sk-${MARKER}-0123456789`;
const NAMES = ['look', 'count', 'fetch', 'break', 'pay'];

describe('the spans of runs', () => {
  const recorder = new SpanRecorder();
  before(() => recorder.install());
  after(() => recorder.uninstall());
  beforeEach(() => recorder.reset());

  /** Blocking calls side by side, one in the background, one that fails, one that a person approves, a fallback. */
  async function runMixed(settings: TelemetrySettings = {}): Promise<TracedLoop> {
    let finish = (): void => undefined;
    const tools = new ToolRegistry()
      .register({ name: 'look', execute: () => `saw ${SECRET}` })
      .register({ name: 'count', execute: () => 2 })
      .register({
        name: 'fetch',
        blocking: false,
        execute: () => new Promise((resolve) => (finish = () => resolve('fetched'))),
      })
      .register({
        name: 'break',
        execute: () => {
          throw new Error(`no ${SECRET}`);
        },
      })
      .register({ name: 'pay', needsApproval: true, execute: () => 'paid' });
    const traced = tracedLoop({
      tools,
      settings,
      steps: [
        calling(
          { name: 'look', call_id: 'c1', arguments: { key: SECRET } },
          { name: 'count', call_id: 'c2' },
          { name: 'fetch', call_id: 'c3' },
        ),
        () => {
          finish();
          return calling({ name: 'break', call_id: 'c4' }, { name: 'pay', call_id: 'c5' });
        },
        new LLMOverloadedError('Too busy.'),
        answer('Well.'),
      ],
      fallbackSteps: [answer(`Done with ${SECRET}.`, { usage: usage(100, 20) })],
    });
    traced.loop.on('tool:approval_required', ({ executionId, callId }) => {
      void traced.loop.approve(executionId, callId);
    });
    await traced.loop.execute('ann', {
      model: 'openai/gpt-4.1',
      input: `Pay with ${SECRET}.`,
      tools: NAMES,
      temperature: 0.5,
      max_output_tokens: 300,
      stop: ['END'],
      executionId: 'run-1',
    });
    return traced;
  }

  it('are an agent with its model calls and tool calls', async () => {
    await runMixed();
    expect(recorder.tree()).to.deep.equal([
      'invoke_agent',
      '  chat gpt-4.1',
      '  execute_tool look',
      '  execute_tool count',
      '  execute_tool fetch',
      '  chat gpt-4.1',
      '  execute_tool break ! threw',
      '  execute_tool pay',
      '  chat gpt-4.1',
    ]);
    expect(recorder.open).to.equal(0);
  });

  it('have the attributes of the conventions', async () => {
    await runMixed();
    expect(recorder.only('invoke_agent').attributes).to.deep.equal({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4.1',
      'gen_ai.usage.input_tokens': 120,
      'gen_ai.usage.output_tokens': 30,
      'bolide.run.id': 'run-1',
      'bolide.run.iterations': 3,
    });
    expect(recorder.only('execute_tool fetch').attributes).to.deep.equal({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'fetch',
      'gen_ai.tool.call.id': 'c3',
      'gen_ai.tool.type': 'function',
      'bolide.tool.blocking': false,
    });
    const [, , last] = recorder.named('chat gpt-4.1');
    const { 'gen_ai.response.id': id, ...attributes } = last?.attributes ?? {};
    expect(id).to.match(/^resp_/);
    expect(attributes).to.deep.equal({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'anthropic',
      'gen_ai.request.model': 'gpt-4.1',
      'gen_ai.request.max_tokens': 300,
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.stop_sequences': ['END'],
      'gen_ai.response.model': 'scripted-model',
      'gen_ai.response.finish_reasons': ['completed'],
      'gen_ai.usage.input_tokens': 100,
      'gen_ai.usage.output_tokens': 20,
      'bolide.provider.id': 'anthropic',
    });
    expect(last?.events.map(({ name, attributes: failed }) => ({ name, ...failed }))).to.deep.equal([
      {
        name: 'bolide.attempt.failed',
        'error.type': 'overloaded',
        'bolide.provider.id': 'openai',
        'bolide.attempt.fallback': 'anthropic',
        'bolide.attempt.delay': 0,
      },
    ]);
  });

  it('link the model call that delivers a late result to the call', async () => {
    await runMixed();
    const fetched = recorder.only('execute_tool fetch').spanContext();
    const linked = recorder.named('chat gpt-4.1').filter(({ links }) => links.length > 0);
    expect(linked).to.have.lengthOf(1);
    expect(linked[0]?.links[0]?.context.spanId).to.equal(fetched.spanId);
    expect(linked[0]?.links[0]?.attributes).to.deep.equal({ 'gen_ai.tool.call.id': 'c3' });
  });

  for (const conventions of ['1.41', '1.36'] as const)
    for (const captureContent of [false, true])
      it(`conform to ${conventions} ${captureContent ? 'with' : 'without'} content, and contain no secrets`, async () => {
        await runMixed({ conventions, captureContent });
        expect(problemsOf(recorder.spans, conventions)).to.deep.equal([]);
        const all = JSON.stringify(
          recorder.spans.map(({ attributes, events, name, links, status }) => [
            attributes,
            events,
            name,
            links,
            status,
          ]),
        );
        expect(all).not.to.contain(MARKER);
        expect(all.includes('Pay with')).to.equal(captureContent && conventions === '1.41');
      });

  it('let a function change or leave out what is captured', async () => {
    await runMixed({
      captureContent: true,
      redact: (text, attribute) => (attribute === 'gen_ai.tool.call.result' ? undefined : `<${text.length}>`),
    });
    const { attributes } = recorder.only('execute_tool count');
    expect(attributes).to.include({ 'gen_ai.tool.call.arguments': '<2>' });
    expect(attributes).not.to.have.property('gen_ai.tool.call.result');
    const [first] = recorder.named('chat gpt-4.1');
    expect(String(first?.attributes['gen_ai.input.messages'])).to.match(
      /^\[\{"role":"user","parts":\[\{"type":"text","content":"<\d+>"\}\]\}\]$/,
    );
  });

  it('are the parents of what tools do', async () => {
    const tools = new ToolRegistry().register({
      name: 'look',
      execute: () => trace.getTracer('app').startActiveSpan('SELECT', (span) => span.end()),
    });
    const { loop } = tracedLoop({ tools, steps: [calling({ name: 'look' }), answer('ok')] });
    await loop.execute('ann', { model: 'openai/m', input: 'go', tools: ['look'] });
    expect(recorder.tree()).to.deep.equal([
      'invoke_agent',
      '  chat m',
      '  execute_tool look',
      '    SELECT',
      '  chat m',
    ]);
  });

  it('contain those of the runs that calls start', async () => {
    const tools = new ToolRegistry()
      .register({ name: 'look', execute: () => 'seen' })
      .register(
        runAsTool({ name: 'delegate', description: 'Delegates.', run: () => ({ input: 'Do.', tools: ['look'] }) }),
      );
    const steps = [
      calling({ name: 'delegate', call_id: 'c1', arguments: { input: 'Do.' } }),
      calling({ name: 'look', call_id: 'c2' }),
      'Seen.',
      'Done.',
    ];
    const { loop } = tracedLoop({ tools, steps });
    await loop.execute('ann', { model: 'openai/gpt-4.1', input: 'Delegate.', tools: ['delegate'] });
    expect(recorder.tree()).to.deep.equal([
      'invoke_agent',
      '  chat gpt-4.1',
      '  execute_tool delegate',
      '    invoke_agent',
      '      chat gpt-4.1',
      '      execute_tool look',
      '      chat gpt-4.1',
      '  chat gpt-4.1',
    ]);
  });

  it('time the first chunk of a stream', async () => {
    const { loop } = tracedLoop({ tools: new ToolRegistry(), steps: ['Hello'] });
    await loop.execute('ann', { model: 'openai/m', input: 'go', stream: true });
    const { attributes } = recorder.only('chat m');
    expect(attributes['gen_ai.request.stream']).to.equal(true);
    expect(attributes['gen_ai.response.time_to_first_chunk']).to.be.a('number').within(0, 60);
  });

  it('continue the trace of a run that another process takes over, and end where it left', async () => {
    const store = new MemoryRunStore();
    let isStuck = (): void => undefined;
    const stuck = new Promise<void>((resolve) => (isStuck = resolve));
    const first = tracedLoop({
      store,
      tools: new ToolRegistry().register({
        name: 'look',
        idempotent: true,
        execute: () => {
          isStuck();
          return new Promise(() => undefined);
        },
      }),
      steps: [calling({ name: 'look' })],
    });
    const root = trace.getTracer('app').startSpan('request');
    await context.with(trace.setSpan(context.active(), root), () =>
      first.loop.start('ann', { model: 'openai/m', input: 'go', tools: ['look'], executionId: 'run-2' }),
    );
    await stuck;
    const second = tracedLoop({
      store,
      tools: new ToolRegistry().register({ name: 'look', idempotent: true, execute: () => 'seen' }),
      steps: [answer('ok')],
    });
    await second.loop.resume('run-2');
    root.end();
    first.telemetry.close();
    expect(recorder.tree()).to.deep.equal([
      'request',
      '  invoke_agent',
      '    chat m',
      '    execute_tool look ! cancelled',
      '    invoke_agent',
      '      execute_tool look',
      '      chat m',
    ]);
    expect(new Set(recorder.spans.map((span) => span.spanContext().traceId)).size).to.equal(1);
    expect([recorder.open, first.telemetry.openRuns, second.telemetry.openRuns]).to.deep.equal([0, 0, 0]);
  });

  it('are complete for many runs at once', async () => {
    const runs = IS_SOAK ? 1_000 : 100;
    const tools = new ToolRegistry().register({ name: 'look', execute: () => 'seen' });
    const { loop, telemetry } = tracedLoop({
      tools,
      steps: Array.from(
        { length: 2 * runs },
        () =>
          ({ input }: { readonly input: unknown }) =>
            Array.isArray(input) && input.length > 1 ? answer('ok') : calling({ name: 'look' }),
      ),
    });
    await Promise.all(
      Array.from({ length: runs }, () => loop.execute('ann', { model: 'openai/m', input: 'go', tools: ['look'] })),
    );
    expect(recorder.spans).to.have.lengthOf(4 * runs);
    expect([recorder.open, telemetry.openRuns]).to.deep.equal([0, 0]);
    const agents = new Map(recorder.named('invoke_agent').map((span) => [span.spanContext().spanId, span]));
    for (const span of recorder.spans) {
      if (span.name === 'invoke_agent') continue;
      const parent = agents.get(span.parentSpanContext?.spanId ?? '');
      expect(parent?.spanContext().traceId).to.equal(span.spanContext().traceId);
    }
  });

  it('are not made without an SDK', async () => {
    recorder.uninstall();
    const { loop, telemetry } = tracedLoop({ tools: new ToolRegistry(), steps: ['Hello'] });
    const done = loop.execute('ann', { model: 'openai/m', input: 'go' });
    expect(telemetry.openRuns).to.equal(0);
    await done;
    recorder.install();
    expect(recorder.spans).to.deep.equal([]);
  });
});
