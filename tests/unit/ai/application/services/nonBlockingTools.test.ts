import { expect } from 'chai';
import sinon from 'sinon';
import { AgenticLoop } from '../../../../../imports/business/ai/application/services/AgenticLoop';
import { runOf } from '../../../../../imports/business/ai/domain/entities/Run';
import { LLMError, LLMServerError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { Item, LLMResponse } from '../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { ToolRegistry } from '../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { deferred } from '../../../../support/deferred';
import type { Deferred } from '../../../../support/deferred';
import { failure } from '../../../../support/failure';
import { recordEvents } from '../../../../support/recordEvents';
import { answer, calling } from '../../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../../../../imports/testing/ScriptedProvider';

const model = 'scripted-model';

/** Tools `job1`, `job2`, … that settle when the test resolves them, and `now`, which returns at once. */
function setUp(
  script: readonly ScriptedStep[],
  options: { delivery?: 'immediate' | 'when_idle' | 'silent'; onDuplicate?: 'allow' | 'reject' | 'join' } = {},
) {
  const jobs: Record<string, Deferred<unknown>> = {};
  const tools = new ToolRegistry().register({ name: 'now', execute: () => 'at once' });
  for (const name of ['job1', 'job2', 'job3']) {
    const job = deferred<unknown>();
    jobs[name] = job;
    tools.register({ name, blocking: false, execute: () => job.promise, ...options });
  }
  const provider = new ScriptedProvider(script);
  const loop = new AgenticLoop({ provider, toolExecutor: tools });
  return { provider, loop, jobs, record: recordEvents(loop), tools: ['now', 'job1', 'job2', 'job3'] };
}

const itemsOf = (provider: ScriptedProvider, call: number) => provider.calls[call]!.options.input as readonly Item[];
const outputsOf = (provider: ScriptedProvider, call: number) =>
  itemsOf(provider, call).flatMap((item) =>
    item.type === 'function_call_output'
      ? [{ id: item.call_id, status: item.status, deferred: item.deferred ?? false, output: item.output }]
      : [],
  );

describe('non-blocking tools', () => {
  it('are acknowledged in their turn; the late result is delivered once, and triggers a model call at once', async () => {
    const { provider, loop, jobs, record, tools } = setUp([
      calling({ name: 'job1', call_id: 'a' }),
      answer('I wait'),
      answer('it is 42'),
    ]);
    loop.on('llm:response', (event) => {
      if (event.response.output_text === 'I wait') setImmediate(() => jobs['job1']!.resolve({ n: 42 }));
    });
    const result = await loop.execute('ann', { model, input: 'go', tools });
    provider.assertPlayedOut();
    expect(result.response.output_text).to.equal('it is 42');
    expect(outputsOf(provider, 1)[0]).to.deep.include({ id: 'a', status: 'in_progress', deferred: false });
    expect(outputsOf(provider, 1)[0]!.output).to.match(/a was accepted.*follow as a message; do not guess it/s);
    expect(outputsOf(provider, 2)[1]).to.deep.equal({
      id: 'a',
      status: 'completed',
      deferred: true,
      output: '{"n":42}',
    });
    expect(record.lines).to.deep.equal([
      'run:started',
      'iteration:start',
      'llm:response',
      'tool:pending job1',
      'tool:executing job1',
      'iteration:start',
      'llm:response',
      'tool:completed job1',
      'result:arrived job1',
      'nonblocking:result',
      'iteration:start',
      'llm:response',
      'nonblocking:llm_response',
      'run:completed',
    ]);
    expect(result.toolCalls[0]?.deliveredIn).to.equal(result.response.id);
  });

  it('include those that a caller marks beside the function of a nested definition', async () => {
    const job = deferred<unknown>();
    const provider = new ScriptedProvider([calling({ name: 'job', call_id: 'a' }), answer('I wait'), answer('done')]);
    const toolExecutor = new ToolRegistry().register({ name: 'job', execute: () => job.promise });
    const loop = new AgenticLoop({ provider, toolExecutor });
    loop.on('iteration:start', ({ iteration }) => {
      if (iteration === 2) job.resolve(1);
    });
    const tools = [{ type: 'function', function: { name: 'job' }, blocking: false } as const];
    await loop.execute('ann', { model, input: 'go', tools });
    expect(outputsOf(provider, 1)[0]).to.deep.include({ id: 'a', status: 'in_progress' });
  });

  it('deliver their results without any timer once they settle', async () => {
    const { provider, loop, jobs, record, tools } = setUp([
      calling({ name: 'job1' }),
      answer('I wait'),
      answer('done'),
    ]);
    const run = loop.execute('ann', { model, input: 'go', tools });
    await record.seen('llm:response', (event) => event.response.output_text === 'I wait');
    const clock = sinon.useFakeTimers({ toFake: ['setTimeout', 'setInterval', 'setImmediate', 'Date'] });
    try {
      jobs['job1']!.resolve('x');
      await run;
    } finally {
      clock.restore();
    }
    expect(provider.calls).to.have.length(3);
  });

  it('answer their own call when they settle while blocking tools of the same turn still run', async () => {
    const { provider, loop, jobs, tools } = setUp([
      calling({ name: 'job1', call_id: 'a' }, { name: 'now', call_id: 'b' }),
      answer('done'),
    ]);
    jobs['job1']!.resolve('early');
    await loop.execute('ann', { model, input: 'go', tools });
    expect(outputsOf(provider, 1)).to.deep.equal([
      { id: 'a', status: 'completed', deferred: false, output: 'early' },
      { id: 'b', status: 'completed', deferred: false, output: 'at once' },
    ]);
  });

  it('deliver results that arrive during a model call with the next one, together and in arrival order', async () => {
    const asked = deferred();
    const goOn = deferred<LLMResponse>();
    const { provider, loop, jobs, record, tools } = setUp([
      calling({ name: 'job1', call_id: 'a' }, { name: 'job2', call_id: 'b' }),
      () => {
        asked.resolve();
        return goOn.promise;
      },
      answer('both'),
    ]);
    const run = loop.execute('ann', { model, input: 'go', tools });
    await asked.promise;
    jobs['job2']!.resolve('2');
    await record.seen('result:arrived', (event) => event.name === 'job2');
    jobs['job1']!.resolve('1');
    await record.seen('result:arrived', (event) => event.name === 'job1');
    goOn.resolve(answer('I wait'));
    expect((await run).response.output_text).to.equal('both');
    provider.assertPlayedOut();
    expect(
      outputsOf(provider, 2)
        .slice(2)
        .map(({ output }) => output),
    ).to.deep.equal(['2', '1']);
  });

  it('deliver a late failure, too, exactly once', async () => {
    const { provider, loop, jobs, record, tools } = setUp([
      calling({ name: 'job1' }),
      answer('I wait'),
      answer('a pity'),
    ]);
    const run = loop.execute('ann', { model, input: 'go', tools });
    await record.seen('llm:response', (event) => event.response.output_text === 'I wait');
    jobs['job1']!.reject(new Error('the printer is on fire'));
    await run;
    expect(
      outputsOf(provider, 2).filter(({ output }) => typeof output === 'string' && output.includes('printer')),
    ).to.have.length(1);
  });

  it('let a run return at its first answer, and deliver later ones through followUps', async () => {
    const { loop, jobs, record, tools } = setUp([
      calling({ name: 'job1' }, { name: 'job2' }),
      answer('I wait'),
      answer('one'),
      answer('two'),
    ]);
    const first = await loop.execute('ann', { model, input: 'go', tools, onPending: 'return' });
    expect(first.response.output_text).to.equal('I wait');
    expect(first.pending.map((call) => call.name)).to.deep.equal(['job1', 'job2']);
    jobs['job1']!.resolve('1');
    await record.seen('llm:response', (event) => event.response.output_text === 'one');
    jobs['job2']!.resolve('2');
    const later: string[] = [];
    for await (const response of first.followUps) later.push(response.output_text);
    expect(later).to.deep.equal(['one', 'two']);
    expect(record.lines.at(-1)).to.equal('run:completed');
  });

  it('report the failure of a run that returned early to readers of followUps only', async () => {
    const { loop, jobs, record, tools } = setUp([
      calling({ name: 'job1' }),
      answer('I wait'),
      new LLMServerError('gone', { retryable: false }),
    ]);
    const first = await loop.execute('ann', { model, input: 'go', tools, onPending: 'return' });
    jobs['job1']!.resolve('1');
    await record.seen('run:failed');
    expect(record.lines.slice(-2)).to.deep.equal(['nonblocking:error', 'run:failed']);
    const failure = await (async () => {
      for await (const _response of first.followUps) throw new Error('there is no answer');
      throw new Error('it ended well');
    })().catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(LLMError).and.to.have.property('message', 'gone');
    expect(runOf(failure)?.undelivered.map((call) => call.name)).to.deep.equal(['job1']);
  });

  it('leave a run that waited able to cancel the model call that it makes next', async () => {
    const asked = deferred();
    const signals: (AbortSignal | undefined)[] = [];
    const { loop, jobs, record, tools, provider } = setUp([
      calling({ name: 'job1', call_id: 'a' }),
      answer('I wait'),
      () => {
        asked.resolve();
        return new Promise<never>(() => undefined);
      },
    ]);
    const run = failure(loop.execute('ann', { model, input: 'go', tools, executionId: 'r' }));
    await record.seen('llm:response', (event) => event.response.output_text === 'I wait');
    jobs['job1']!.resolve('x');
    await asked.promise;
    signals.push(...provider.calls.map(({ options }) => options.signal));
    expect(signals.map((signal) => signal?.aborted)).to.deep.equal([false, false, false]);
    await loop.cancel('r');
    expect(await run).to.have.property('code', 'aborted');
    expect(signals[2]?.aborted).to.equal(true);
  });

  it('get ids of their own if the model repeats one after the run has waited', async () => {
    const { loop, jobs, record, tools } = setUp([
      calling({ name: 'job1', call_id: 'a' }),
      answer('I wait'),
      calling({ name: 'now', call_id: 'a' }),
      answer('done'),
    ]);
    const run = loop.execute('ann', { model, input: 'go', tools });
    await record.seen('llm:response', (event) => event.response.output_text === 'I wait');
    jobs['job1']!.resolve('x');
    expect((await run).toolCalls.map(({ id, call_id }) => [id, call_id])).to.deep.equal([
      ['a', 'a'],
      ['a_2', 'a'],
    ]);
  });

  it('are cancelled with the run, and what they return later has no effect', async () => {
    const { loop, jobs, record, tools } = setUp([calling({ name: 'job1', call_id: 'a' }), answer('I wait')]);
    const run = loop.execute('ann', { model, input: 'go', tools, executionId: 'r' }).catch((error: unknown) => error);
    await record.seen('llm:response', (event) => event.response.output_text === 'I wait');
    await loop.cancel('r');
    expect(runOf(await run)?.toolCalls[0]?.state).to.equal('cancelled');
    const count = record.events.length;
    jobs['job1']!.resolve('ignored');
    await jobs['job1']!.promise;
    await Promise.resolve();
    expect(record.events).to.have.length(count);
    expect(loop.getToolStatistics('r')).to.include({ total: 1, cancelled: 1, nonBlocking: 1, blocking: 0 });
  });

  it('with silent delivery never trigger a model call; results that were not delivered are in undelivered', async () => {
    const { provider, loop, jobs, record, tools } = setUp([calling({ name: 'job1' }), answer('done')], {
      delivery: 'silent',
    });
    const run = loop.execute('ann', { model, input: 'go', tools });
    await record.seen('llm:response', (event) => event.response.output_text === 'done');
    jobs['job1']!.resolve('quiet');
    const result = await run;
    provider.assertPlayedOut();
    expect(result.undelivered.map((call) => call.name)).to.deep.equal(['job1']);
  });

  it('with delivery when_idle wait until the model has answered', async () => {
    const { provider, loop, jobs, tools } = setUp(
      [
        calling({ name: 'job1', call_id: 'a' }),
        () => {
          jobs['job1']!.resolve('patient');
          return calling({ name: 'now', call_id: 'b' });
        },
        answer('an answer'),
        answer('with the result'),
      ],
      { delivery: 'when_idle' },
    );
    const result = await loop.execute('ann', { model, input: 'go', tools });
    provider.assertPlayedOut();
    expect(JSON.stringify(itemsOf(provider, 2))).not.to.contain('patient');
    expect(JSON.stringify(itemsOf(provider, 3))).to.contain('patient');
    expect(result.response.output_text).to.equal('with the result');
  });

  it('wait for a submitted result, once, however long it takes', async () => {
    const tools = new ToolRegistry().register({ name: 'webhook', blocking: false, kind: 'external' });
    const provider = new ScriptedProvider([
      calling({ name: 'webhook', call_id: 'a' }),
      answer('I wait'),
      answer('thanks'),
    ]);
    const loop = new AgenticLoop({ provider, toolExecutor: tools });
    const record = recordEvents(loop);
    const run = loop.execute('ann', { model, input: 'go', tools: ['webhook'], executionId: 'r' });
    await record.seen('llm:response', (event) => event.response.output_text === 'I wait');
    expect(await loop.submitToolResult('r', 'a', { output: { paid: true } })).to.equal('accepted');
    expect((await run).response.output_text).to.equal('thanks');
    expect(await loop.submitToolResult('r', 'a', { output: 'again' })).to.equal('already-settled');
    expect(outputsOf(provider, 2)[1]!.output).to.equal('{"paid":true}');
    expect(await failure(loop.submitToolResult('r', 'b', { output: 1 })))
      .to.have.property('message')
      .that.matches(/no call "b"/);
  });

  describe('approvals', () => {
    function withApproval() {
      const tools = new ToolRegistry().register({
        name: 'pay',
        needsApproval: (args: unknown) => (args as { sum: number }).sum > 10,
        execute: (args: { sum: number }) => `paid ${args.sum}`,
      });
      const provider = new ScriptedProvider([
        calling(
          { name: 'pay', call_id: 'small', arguments: { sum: 5 } },
          { name: 'pay', call_id: 'big', arguments: { sum: 50 } },
        ),
        answer('ok'),
      ]);
      const loop = new AgenticLoop({ provider, toolExecutor: tools });
      const record = recordEvents(loop);
      const run = loop.execute('ann', { model, input: 'go', tools: ['pay'], executionId: 'r' });
      return { provider, loop, record, run };
    }

    it('are requested by the tool’s rule, and count only for the arguments that were shown', async () => {
      const { loop, record, run, provider } = withApproval();
      const asked = await record.seen('tool:approval_required');
      expect(asked.callId).to.equal('big');
      expect(await failure(loop.approve('r', 'big', 'another hash'))).to.have.property('code', 'conflict');
      expect(await failure(loop.approve('r', 'small'))).to.have.property('code', 'invalid-request');
      expect(await loop.approve('r', 'big', asked.argumentsHash)).to.equal('completed');
      await run;
      expect(await loop.approve('r', 'big')).to.equal('completed');
      expect(await failure(loop.reject('r', 'big'))).to.have.property('code', 'invalid-request');
      expect(outputsOf(provider, 1).map(({ output }) => output)).to.deep.equal(['paid 5', 'paid 50']);
    });

    it('send the model the reason for a rejection', async () => {
      const { loop, record, run, provider } = withApproval();
      await record.seen('tool:approval_required');
      await loop.reject('r', 'big', 'too expensive');
      await run;
      expect(outputsOf(provider, 1)[1]!.output).to.contain('too expensive');
    });
  });

  for (const [onDuplicate, states, runs] of [
    ['allow', ['completed', 'completed'], 2],
    ['reject', ['completed', 'failed'], 1],
    ['join', ['completed', 'completed'], 1],
  ] as const) {
    it(`with onDuplicate '${onDuplicate}' handle a duplicate of a call that is still running`, async () => {
      const job = deferred<string>();
      const execute = sinon.fake(() => job.promise);
      const tools = new ToolRegistry().register({ name: 'job', blocking: false, onDuplicate, execute });
      const provider = new ScriptedProvider([
        calling({ name: 'job', call_id: 'a', arguments: '{"x":1,"y":2}' }),
        calling({ name: 'job', call_id: 'b', arguments: '{"y":2, "x":1}' }),
        answer('I wait'),
        answer('done'),
        answer('done'),
      ]);
      const loop = new AgenticLoop({ provider, toolExecutor: tools });
      const record = recordEvents(loop);
      const run = loop.execute('ann', { model, input: 'go', tools: ['job'] });
      await record.seen('llm:response', (event) => event.response.output_text === 'I wait');
      job.resolve('result');
      const result = await run;
      expect(result.toolCalls.map((call) => call.state)).to.deep.equal(states);
      expect(execute.callCount).to.equal(runs);
    });
  }
});
