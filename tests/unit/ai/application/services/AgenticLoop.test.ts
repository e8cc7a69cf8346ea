import { expect } from 'chai';
import sinon from 'sinon';
import { AgenticLoop } from '../../../../../imports/business/ai/application/services/AgenticLoop';
import { runOf } from '../../../../../imports/business/ai/domain/entities/Run';
import { LLMAbortedError, LLMError, LLMServerError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { ILLMProvider } from '../../../../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { ErrorCode } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { Item } from '../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { ToolRegistry } from '../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { deferred } from '../../../../support/deferred';
import { recordEvents } from '../../../../support/recordEvents';
import { answer, calling, incomplete, refusing } from '../../../../../imports/testing/responses';
import { ScriptedProvider, untilAborted } from '../../../../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../../../../imports/testing/ScriptedProvider';
import { pendingTimers } from '../../../../support/countTimers';

const model = 'scripted-model';

function setUp(script: readonly ScriptedStep[], tools: ToolRegistry = new ToolRegistry()) {
  const provider = new ScriptedProvider(script);
  const listenerErrors: unknown[] = [];
  const loop = new AgenticLoop({
    provider,
    toolExecutor: tools,
    onListenerError: (error) => listenerErrors.push(error),
  });
  return { provider, loop, record: recordEvents(loop), listenerErrors };
}

async function failureOf(run: Promise<unknown>): Promise<LLMError> {
  try {
    await run;
  } catch (error) {
    if (error instanceof LLMError) return error;
    throw error;
  }
  throw new Error('the run succeeded');
}

function sentInput(provider: ScriptedProvider, call: number): readonly Item[] {
  return provider.calls[call]!.options.input as readonly Item[];
}

const outputs = (items: readonly Item[]) =>
  items.flatMap((item) => (item.type === 'function_call_output' ? [item] : []));

describe('AgenticLoop', () => {
  describe('with blocking tools', () => {
    it('answers each call of a turn in call order before the next turn, and emits every step in order', async () => {
      const slow = deferred<string>();
      const tools = new ToolRegistry()
        .register({ name: 'first', execute: () => slow.promise })
        .register({ name: 'second', execute: () => ({ two: 2 }) });
      const { provider, loop, record } = setUp(
        [calling({ name: 'first', call_id: 'a' }, { name: 'second', call_id: 'b' }), answer('done')],
        tools,
      );
      loop.on('tool:completed', (event) => {
        if (event.name === 'second') slow.resolve('one');
      });

      const result = await loop.execute('ann', { model, input: 'go', tools: ['first', 'second'] });

      provider.assertPlayedOut();
      expect(result.response.output_text).to.equal('done');
      expect(result.iterations).to.equal(2);
      expect(result.usage.total_tokens).to.equal(30);
      expect(outputs(sentInput(provider, 1)).map(({ call_id, output }) => [call_id, output])).to.deep.equal([
        ['a', 'one'],
        ['b', '{"two":2}'],
      ]);
      expect(record.lines).to.deep.equal([
        'run:started',
        'iteration:start',
        'llm:response',
        'tool:pending first',
        'tool:pending second',
        'tool:executing first',
        'tool:executing second',
        'tool:completed second',
        'tool:completed first',
        'iteration:start',
        'llm:response',
        'run:completed',
      ]);
      expect(record.events.map((event) => event.seq)).to.deep.equal(record.events.map((_event, index) => index + 1));
      expect(new Set(record.events.map((event) => event.executionId))).to.deep.equal(new Set([result.executionId]));
    });

    it('numbers its events also while nobody listens, and then is no longer live', async () => {
      const tools = new ToolRegistry().register({ name: 'first', execute: () => 'one' });
      const script = [calling({ name: 'first', call_id: 'a' }), answer('done')];
      const { record, loop: heard } = setUp(script, tools);
      await heard.execute('ann', { model, input: 'go', tools: ['first'] });
      const loop = new AgenticLoop({ provider: new ScriptedProvider(script), toolExecutor: tools });
      const late: number[] = [];
      loop.on('run:completed', ({ seq }) => late.push(seq));

      const { executionId } = await loop.execute('ann', { model, input: 'go', tools: ['first'] });

      expect(late).to.deep.equal([record.events.length]);
      expect(loop.local.size).to.equal(0);
      expect(loop.local.userIdOf(executionId)).to.equal('ann');

      const silent = new AgenticLoop({ provider: new ScriptedProvider(script), toolExecutor: tools });
      await silent.execute('ann', { model, input: 'go', tools: ['first'] });
      expect(silent.local.size).to.equal(0);
    });

    it('times out no call whose tool has ended the run itself', async () => {
      const clock = sinon.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      try {
        const controller = new AbortController();
        const work = deferred<string>();
        const tools = new ToolRegistry().register({
          name: 'ends_the_run',
          timeout: 5,
          execute: () => {
            controller.abort(new LLMAbortedError('Enough.'));
            return work.promise;
          },
        });
        const { loop, record } = setUp([calling({ name: 'ends_the_run', call_id: 'a' })], tools);

        const run = { model, input: 'go', tools: ['ends_the_run'], signal: controller.signal };
        const error = await failureOf(loop.execute('ann', run));
        expect(error.code).to.equal('aborted');
        expect(pendingTimers(clock)).to.deep.equal([]);
        work.resolve('too late');
        await clock.tickAsync(10);

        expect(record.lines.slice(-2)).to.deep.equal(['tool:cancelled ends_the_run', 'run:cancelled']);
      } finally {
        clock.restore();
      }
    });

    it('sends one first item of its own in all turns, so that what is kept by it ends with the run', async () => {
      const tools = new ToolRegistry().register({ name: 'first', execute: () => 'one' });
      const { provider, loop } = setUp([calling({ name: 'first', call_id: 'a' }), answer('done')], tools);

      const { transcript } = await loop.execute('ann', { model, input: 'go', tools: ['first'] });

      const [item, ...others] = sentInput(provider, 1);
      expect(item).to.equal(sentInput(provider, 0)[0]).and.to.deep.equal(transcript[0]).and.to.be.frozen;
      expect(item).to.not.equal(transcript[0]);
      for (const [index, other] of others.entries()) expect(other).to.equal(transcript[index + 1]);
      expect(others).to.have.length(2);
    });

    it('runs sequential tools one after another and others in parallel, never more than maxParallelTools', async () => {
      let running = 0;
      let most = 0;
      let sequentialRunning = 0;
      const work = (isSequential: boolean) => async () => {
        running += 1;
        most = Math.max(most, running);
        if (isSequential) expect((sequentialRunning += 1)).to.equal(1);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        if (isSequential) sequentialRunning -= 1;
      };
      const tools = new ToolRegistry()
        .register({ name: 'one', execute: work(false) })
        .register({ name: 'seq', sequential: true, execute: work(true) });
      const calls = Array.from({ length: 6 }, () => ({ name: 'one' })).concat(
        Array.from({ length: 3 }, () => ({ name: 'seq' })),
      );
      const { loop, provider } = setUp([calling(...calls), answer('ok')], tools);
      await loop.execute('ann', { model, input: 'go', tools: ['one', 'seq'], maxParallelTools: 4 });
      expect(most).to.equal(4);
      expect(outputs(sentInput(provider, 1)).map(({ state }) => state)).to.deep.equal(Array(9).fill('completed'));
    });

    it('sends the model each violation with its path instead of running the tool, so that it can repair the call', async () => {
      const execute = sinon.fake.returns('sunny');
      const parameters = {
        type: 'object',
        properties: { city: { type: 'string' }, days: { type: 'integer' } },
        required: ['city'],
      };
      const tools = new ToolRegistry().register({ name: 'weather', parameters, execute });
      const { loop, provider } = setUp(
        [
          calling({ name: 'weather', arguments: { days: 'two' } }),
          calling({ name: 'weather', arguments: { city: 'Rome', days: 2 } }),
          answer('sunny'),
        ],
        tools,
      );
      const result = await loop.execute('ann', { model, input: 'weather?', tools: ['weather'] });
      const [first] = outputs(sentInput(provider, 1));
      expect(first?.output).to.contain('city').and.to.contain('days');
      expect(first?.state).to.equal('failed');
      expect(execute.callCount).to.equal(1);
      expect(result.toolCalls.map((call) => call.state)).to.deep.equal(['failed', 'completed']);
    });

    it('names the tools that exist when the model asks for one that is not offered', async () => {
      const hidden = sinon.fake();
      const tools = new ToolRegistry()
        .register({ name: 'known', execute: () => 1 })
        .register({ name: 'hidden', execute: hidden });
      const { loop, provider } = setUp([calling({ name: 'hidden' }), answer('ok')], tools);
      await loop.execute('ann', { model, input: 'go', tools: ['known'] });
      expect(outputs(sentInput(provider, 1))[0]?.output)
        .to.contain('Unknown tool "hidden"')
        .and.to.contain('known');
      expect(hidden.callCount).to.equal(0);
    });

    it('gives two calls with the same id distinct ids, and answers each', async () => {
      let count = 0;
      const tools = new ToolRegistry().register({ name: 'count', execute: () => `n${(count += 1)}` });
      const { loop, provider } = setUp(
        [
          calling({ name: 'count', call_id: 'same' }, { name: 'count', call_id: 'same' }),
          calling({ name: 'count', call_id: 'same' }),
          answer('ok'),
        ],
        tools,
      );
      const result = await loop.execute('ann', { model, input: 'go', tools: ['count'] });
      expect(result.toolCalls.map(({ id, call_id }) => [id, call_id])).to.deep.equal([
        ['same', 'same'],
        ['same_2', 'same'],
        ['same_3', 'same'],
      ]);
      expect(outputs(sentInput(provider, 2)).map(({ call_id, output }) => [call_id, output])).to.deep.equal([
        ['same', 'n1'],
        ['same_2', 'n2'],
        ['same_3', 'n3'],
      ]);
    });

    it('forces a tool in the first turn only, so that the model can answer', async () => {
      const tools = new ToolRegistry().register({ name: 'lookup', execute: () => 'seen' });
      const { loop, provider } = setUp([calling({ name: 'lookup' }), answer('ok')], tools);
      await loop.execute('ann', { model, input: 'go', tools: ['lookup'], tool_choice: 'required' });
      expect(provider.calls.map(({ options }) => options.tool_choice)).to.deep.equal(['required', 'auto']);
    });

    it('replaces lone surrogates that a model wrote instead of ending the run', async () => {
      const tools = new ToolRegistry().register({ name: 'lookup', execute: () => 'seen' });
      const { loop, provider } = setUp(
        [
          {
            ...calling({ name: 'lookup' }),
            output: [...answer('cut \ud83d').output, ...calling({ name: 'lookup' }).output],
          },
          answer('ok'),
        ],
        tools,
      );
      await loop.execute('ann', { model, input: 'go', tools: ['lookup'] });
      expect(JSON.stringify(sentInput(provider, 1))).to.contain('cut \ufffd');
    });

    it('continues a paused turn unchanged, and counts it as an iteration', async () => {
      const paused = answer('thinking');
      const { loop, provider } = setUp([
        { ...paused, vendor: { ...paused.vendor, finish_reason: 'pause_turn' } },
        answer('done'),
      ]);
      const result = await loop.execute('ann', { model, input: 'go' });
      expect(result.iterations).to.equal(2);
      expect(sentInput(provider, 1).slice(1)).to.deep.equal(paused.output);
    });
  });

  describe('timeouts', () => {
    let clock: sinon.SinonFakeTimers;
    beforeEach(() => {
      clock = sinon.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    });
    afterEach(() => clock.restore());

    it('continues at once when a tool exceeds its timeout, fires its signal, and records its late result', async () => {
      const never = deferred<string>();
      let signal: AbortSignal | undefined;
      const tools = new ToolRegistry().register({
        name: 'slow',
        timeout: 50,
        execute: (_args, context) => {
          signal = context.signal;
          return never.promise;
        },
      });
      const { loop, provider, record } = setUp([calling({ name: 'slow', call_id: 'a' }), answer('ok')], tools);
      const run = loop.execute('ann', { model, input: 'go', tools: ['slow'] });
      await record.seen('tool:executing');
      await clock.tickAsync(50);
      const result = await run;
      expect(outputs(sentInput(provider, 1))[0]?.output).to.match(/timed out after 50 ms/);
      expect(signal?.aborted).to.equal(true);
      expect(result.toolCalls[0]?.state).to.equal('timeout');

      never.resolve('too late');
      await record.seen('tool:late');
      expect(loop.getExecutionContext(result.executionId)?.toolCalls.get('a')).to.include({
        state: 'timeout',
        lateResult: 'too late',
      });
      expect(pendingTimers(clock)).to.deep.equal([]);
    });

    it('records how a tool fails after its timeout', async () => {
      const never = deferred<string>();
      const tools = new ToolRegistry().register({ name: 'slow', timeout: 50, execute: () => never.promise });
      const { loop, record } = setUp([calling({ name: 'slow', call_id: 'a' }), answer('ok')], tools);
      const run = loop.execute('ann', { model, input: 'go', tools: ['slow'] });
      await record.seen('tool:executing');
      await clock.tickAsync(50);
      const { executionId } = await run;
      never.reject(new Error('The disk is full.'));
      await record.seen('tool:late');
      expect(loop.getExecutionContext(executionId)?.toolCalls.get('a')).to.include({
        state: 'timeout',
        lateResult: 'failed: The disk is full.',
      });
    });

    it('applies the loop’s default timeout to tools that have none', async () => {
      const tools = new ToolRegistry().register({ name: 'slow', execute: () => new Promise(() => undefined) });
      const { loop, record, provider } = setUp([calling({ name: 'slow' }), answer('ok')], tools);
      const run = loop.execute('ann', { model, input: 'go', tools: ['slow'] });
      await record.seen('tool:executing');
      await clock.tickAsync(30_000);
      await run;
      expect(outputs(sentInput(provider, 1))[0]?.output).to.match(/30000 ms/);
    });

    it('ends a run that exceeds its deadline, and reports everything it did', async () => {
      const { loop, record } = setUp(
        [calling({ name: 'stuck' })],
        new ToolRegistry().register({
          name: 'stuck',
          timeout: 10_000_000,
          execute: () => new Promise(() => undefined),
        }),
      );
      const run = failureOf(loop.execute('ann', { model, input: 'go', tools: ['stuck'], runTimeout: 5_000 }));
      await record.seen('tool:executing');
      await clock.tickAsync(5_000);
      const error = await run;
      expect(error.code).to.equal('timeout');
      expect(runOf(error)?.toolCalls.map((call) => call.state)).to.deep.equal(['cancelled']);
      expect(record.lines.slice(-2)).to.deep.equal(['tool:cancelled stuck', 'run:failed']);
      expect(pendingTimers(clock)).to.deep.equal([]);
    });

    it('does not count the time that a person takes to approve a call', async () => {
      const tools = new ToolRegistry().register({ name: 'pay', needsApproval: true, execute: () => 'paid' });
      const { loop, record } = setUp([calling({ name: 'pay', call_id: 'a' }), answer('paid')], tools);
      const run = loop.execute('ann', { model, input: 'go', tools: ['pay'], runTimeout: 1_000, executionId: 'r' });
      const asked = await record.seen('tool:approval_required');
      await clock.tickAsync(3_600_000);
      await loop.approve('r', 'a', asked.argumentsHash);
      expect((await run).response.output_text).to.equal('paid');
      expect(pendingTimers(clock)).to.deep.equal([]);
    });
  });

  describe('ends', () => {
    const ends: [string, ErrorCode, ScriptedStep[], object][] = [
      [
        'too many model calls',
        'max-iterations',
        [calling({ name: 'ok' }), calling({ name: 'ok' })],
        { maxIterations: 2 },
      ],
      [
        'nothing but failed calls',
        'tool-loop',
        [calling({ name: 'bad' }), calling({ name: 'bad' }, { name: 'nope' }), calling({ name: 'bad' })],
        {},
      ],
      [
        'a truncated answer, whose tools never run',
        'incomplete',
        [{ ...incomplete('max_output_tokens'), output: calling({ name: 'ok' }).output }],
        {},
      ],
      ['a filtered answer', 'content-filtered', [incomplete('content_filter')], {}],
      ['a refusal', 'refused', [refusing('I will not')], {}],
      [
        'an answer that ends to call tools and calls none',
        'incomplete',
        [
          answer('', {
            vendor: {
              name: 'scripted',
              wire: 'chat_completions',
              finish_reason: 'tool_calls',
              warnings: [],
              losses: [],
            },
          }),
        ],
        {},
      ],
      [
        'a call of a tool that its client must execute',
        'unsupported-feature',
        [answer('', { output: [{ type: 'apply_patch_call', call_id: 'c1', status: 'completed' }] })],
        {},
      ],
      ['a provider error', 'auth-failed', [new LLMError('auth-failed', 'bad key')], {}],
      ['an error of no kind that we know', 'vendor-error', [new TypeError('oops')], {}],
      ['a budget of calls', 'budget-exceeded', [calling({ name: 'ok' })], { budget: { calls: 1 } }],
      ['a budget of tokens', 'budget-exceeded', [calling({ name: 'ok' })], { budget: { tokens: 20 } }],
    ];
    for (const [what, code, script, limits] of ends) {
      it(`ends a run by ${what} with the code '${code}' and a complete report`, async () => {
        const ran = sinon.fake.returns('fine');
        const tools = new ToolRegistry().register({ name: 'ok', execute: ran }).register({
          name: 'bad',
          execute: () => {
            throw new Error('broken');
          },
        });
        const { loop, provider, record } = setUp(script, tools);
        const error = await failureOf(loop.execute('ann', { model, input: 'go', tools: ['ok', 'bad'], ...limits }));
        expect(error.code).to.equal(code);
        provider.assertPlayedOut();
        const run = runOf(error)!;
        expect(run.iterations).to.equal(script.length);
        expect(run.transcript[0]).to.deep.include({ type: 'message', role: 'user' });
        expect(run.usage.total_tokens).to.equal(script.filter((step) => !(step instanceof Error)).length * 15);
        expect(run.pending).to.deep.equal([]);
        expect(record.lines.filter((line) => line.startsWith('run:'))).to.deep.equal(['run:started', 'run:failed']);
        if (code === 'incomplete') expect(ran.callCount).to.equal(0);
      });
    }

    it('ends at once when the caller aborts during a model call, estimates that call’s usage, and aborts it upstream', async () => {
      const controller = new AbortController();
      const { loop, record, provider } = setUp([untilAborted]);
      const run = failureOf(
        loop.execute('ann', { model, input: 'a question of some length', signal: controller.signal }),
      );
      await record.seen('iteration:start');
      controller.abort(new Error('the page was closed'));
      const error = await run;
      expect(error).to.be.instanceOf(LLMAbortedError);
      expect((error.cause as Error).message).to.equal('the page was closed');
      expect(provider.calls[0]?.options.signal?.aborted).to.equal(true);
      expect(runOf(error)?.usage).to.include({ estimated: true });
      expect(runOf(error)?.usage.input_tokens).to.be.greaterThan(5);
      expect(record.lines.at(-1)).to.equal('run:cancelled');
    });

    it('ends at once when the caller aborts while a tool ignores its signal', async () => {
      const controller = new AbortController();
      const tools = new ToolRegistry().register({ name: 'deaf', execute: () => new Promise(() => undefined) });
      const { loop, record } = setUp([calling({ name: 'deaf' })], tools);
      const run = failureOf(loop.execute('ann', { model, input: 'go', tools: ['deaf'], signal: controller.signal }));
      await record.seen('tool:executing');
      controller.abort();
      const error = await run;
      expect(error.code).to.equal('aborted');
      expect(runOf(error)?.toolCalls[0]?.state).to.equal('cancelled');
      expect(outputs(runOf(error)?.transcript ?? [])).to.deep.equal([]);
    });

    it('does not run a tool of which a listener cancels the run as it starts', async () => {
      const execute = sinon.fake();
      const { loop } = setUp(
        [calling({ name: 'unwanted' })],
        new ToolRegistry().register({ name: 'unwanted', execute }),
      );
      loop.on('tool:executing', ({ executionId }) => void loop.cancel(executionId));
      const error = await failureOf(loop.execute('ann', { model, input: 'go', tools: ['unwanted'] }));
      expect(runOf(error)?.toolCalls[0]?.state).to.equal('cancelled');
      expect(execute.callCount).to.equal(0);
    });

    it('calls no model when the signal is already aborted', async () => {
      const { loop, provider } = setUp([]);
      const error = await failureOf(loop.execute('ann', { model, input: 'go', signal: AbortSignal.abort() }));
      expect(error.code).to.equal('aborted');
      provider.assertPlayedOut();
    });

    it('cancels a run by its id, upstream too, and leaves a finished run unchanged', async () => {
      const { loop, record, provider } = setUp([untilAborted]);
      const run = failureOf(loop.execute('ann', { model, input: 'go', executionId: 'r' }));
      await record.seen('iteration:start');
      await loop.cancel('r');
      expect((await run).code).to.equal('aborted');
      expect(provider.calls[0]?.options.signal?.aborted).to.equal(true);
      expect(await loop.cancel('r')).to.equal('cancelled');
      expect((await failureOf(loop.cancel('unknown'))).code).to.equal('invalid-request');
    });
  });

  it('refuses invalid requests before anything is sent, with the reason and the path', async () => {
    const { loop, provider } = setUp([]);
    const bad: [object, RegExp][] = [
      [{ input: 'go', model, tools: ['missing'] }, /tools\[0\]/],
      [{ input: [{ role: 'nobody', content: 'x' }], model }, /input\[0\]/],
      [{ input: 'go', model, temperature: 'hot' }, /temperature/],
      [{ input: 'go', model, maxIterations: 0 }, /maxIterations/],
      [{ input: 'go' }, /model/],
    ];
    for (const [options, where] of bad) {
      const error = await failureOf(loop.execute('ann', options as never));
      expect(error.code).to.equal('invalid-request');
      expect(`${error.path ?? ''} ${error.message}`).to.match(where);
    }
    provider.assertPlayedOut();
  });

  it('continues when a listener throws or rejects, and notifies the others', async () => {
    const { loop, listenerErrors, record } = setUp([answer('ok')]);
    let once = 0;
    loop.on('run:started', () => {
      throw new Error('bad listener');
    });
    loop.on('llm:response', () => Promise.reject(new Error('bad async listener')) as never);
    loop.once('event', () => (once += 1));
    await loop.execute('ann', { model, input: 'go' });
    await Promise.resolve();
    expect(listenerErrors.map(String)).to.deep.equal(['Error: bad listener', 'Error: bad async listener']);
    expect(record.lines.at(-1)).to.equal('run:completed');
    expect(once).to.equal(1);
    expect(loop.listenerCount('event')).to.equal(1);
  });

  it('emits the deltas of a streaming run as they arrive, and ends with the same result', async () => {
    const { loop, record } = setUp([answer('one two three')]);
    const result = await loop.execute('ann', { model, input: 'go', stream: true });
    expect(result.response.output_text).to.equal('one two three');
    expect(record.events.flatMap((event) => (event.type === 'llm:delta' ? [event.delta] : []))).to.deep.equal([
      'one ',
      'two ',
      'three',
    ]);
  });

  it('never runs the tools of a stream that ended prematurely', async () => {
    const execute = sinon.fake();
    const tools = new ToolRegistry().register({ name: 'ok', execute });
    const call = calling({ name: 'ok', call_id: 'a' }).output[0]!;
    const { loop } = setUp(
      [
        [
          { type: 'response.created', id: 'r', model },
          { type: 'response.output_text.delta', output_index: 0, delta: 'hi' },
          { type: 'response.tool_use.done', output_index: 0, item: call as never },
          new LLMServerError('gone'),
        ],
      ],
      tools,
    );
    const error = await failureOf(loop.execute('ann', { model, input: 'go', tools: ['ok'], stream: true }));
    expect(error.code).to.equal('vendor-error');
    expect(execute.callCount).to.equal(0);
  });

  it('serves many concurrent runs without mixing them up, and keeps only the latest finished ones', async () => {
    const tools = new ToolRegistry().register({ name: 'echo', execute: (args: { n: number }) => `n${args.n}` });
    const provider: ILLMProvider = {
      getProviderName: () => 'echo',
      getCapabilities: () => new ScriptedProvider().getCapabilities(),
      validateAccess: async () => ({ valid: true }),
      async generate(_userId, options) {
        const items = options.input as Item[];
        const last = outputs(items)[0];
        if (last !== undefined) return answer(last.output as string);
        const [question] = items;
        const text =
          question?.type === 'message' && question.content[0]?.type === 'input_text' ? question.content[0].text : '';
        return calling({ name: 'echo', arguments: { n: Number(text) }, call_id: 'c' });
      },
      stream: () => {
        throw new Error('not asked for');
      },
    };
    const loop = new AgenticLoop({ provider, toolExecutor: tools, keepFinished: 5 });
    const results = await Promise.all(
      Array.from({ length: 200 }, (_value, n) => loop.execute('ann', { model, input: String(n), tools: ['echo'] })),
    );
    expect(results.map((result) => result.response.output_text)).to.deep.equal(results.map((_result, n) => `n${n}`));
    expect(results.filter((result) => loop.getExecutionContext(result.executionId) !== undefined)).to.have.length(5);
  });
});
