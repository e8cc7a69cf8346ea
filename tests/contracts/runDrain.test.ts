/** A process that drains begins nothing, finishes what runs, and leaves its runs so that the next one goes on right. */
import { expect } from 'chai';
import { UNOWNED } from '../../imports/business/ai/domain/entities/Run';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import type { FunctionTool, ToolCall } from '../../imports/business/ai/domain/entities/Tool';
import { LLMOverloadedError, ToolError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { LLMManager } from '../../imports/business/ai/application/services/LLMManager';
import { RunQueue } from '../../imports/business/ai/application/services/RunQueue';
import { createUseCases } from '../../imports/business/ai/infrastructure/factories/createUseCases';
import { LocalJobQueue } from '../../imports/business/ai/infrastructure/jobs/LocalJobQueue';
import { MemoryRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling } from '../../imports/testing/responses';
import { ScriptedProvider } from '../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../imports/testing/ScriptedProvider';
import { deferred } from '../support/deferred';
import type { Deferred } from '../support/deferred';
import { failure } from '../support/failure';
import { recordEvents } from '../support/recordEvents';
import { until } from '../support/until';

const NEVER = new AbortController().signal;
const AT_ONCE = AbortSignal.abort();

describe('a process that drains', () => {
  let store: MemoryRunStore;
  let effects: string[];
  let outcome: Deferred<string>;
  /** By the first process's tool, when its signal fires. */
  let thrown: Error;
  beforeEach(() => {
    store = new MemoryRunStore();
    effects = [];
    outcome = deferred<string>();
    thrown = new Error('The connection was closed.');
  });

  function open(name: string, script: readonly ScriptedStep[], tool: Partial<FunctionTool> = {}) {
    const toolExecutor = new ToolRegistry().register({
      ...tool,
      name: 'work',
      execute: (_args: unknown, { signal }) => {
        effects.push(name);
        if (name === 'second') return 'done by the second';
        signal.addEventListener('abort', () => outcome.reject(thrown));
        return outcome.promise;
      },
    });
    const provider = new ScriptedProvider(script);
    const loop = new AgenticLoop({ provider, toolExecutor, runStore: store, leaseTimes: { heartbeat: 5 } });
    return { loop, provider, record: recordEvents(loop) };
  }
  const start = async (loop: AgenticLoop): Promise<{ readonly ended: Promise<unknown> }> => {
    const { done } = await loop.start('ann', { model: 'm', input: 'go', tools: ['work'], executionId: 'r' });
    return { ended: done.catch((error: unknown) => error) };
  };
  const storedCall = async (): Promise<ToolCall | undefined> => (await store.load('r'))?.calls[0];
  const handOver = async (loop: AgenticLoop, over: AbortSignal): Promise<void> => {
    await loop.drain(over);
    await loop.close();
  };

  it('refuses new runs', async () => {
    const { loop } = open('first', []);
    await loop.drain(NEVER);
    expect(await failure(start(loop))).to.be.instanceOf(LLMOverloadedError);
    expect(await failure(loop.claims.startQueued('r'))).to.be.instanceOf(LLMOverloadedError);
    expect(await failure(loop.resume('r'))).to.be.instanceOf(LLMOverloadedError);
  });

  it('records the answer of a model call in progress, and starts none of its tools', async () => {
    const reply = deferred<LLMResponse>();
    const first = open('first', [() => reply.promise]);
    const { ended } = await start(first.loop);
    await first.record.seen('iteration:start');
    const drained = handOver(first.loop, NEVER);
    reply.resolve(calling({ name: 'work' }));
    await drained;
    expect(await ended).to.be.instanceOf(LLMOverloadedError);
    expect(effects).to.deep.equal([]);
    expect(await storedCall()).to.include({ state: 'pending' });
    const second = open('second', [answer('Done.')]);
    expect((await second.loop.resume('r')).usage.estimated).to.equal(undefined);
    expect(effects).to.deep.equal(['second']);
  });

  it('completes a run whose model call in progress answers', async () => {
    const reply = deferred<LLMResponse>();
    const { loop, record } = open('first', [() => reply.promise]);
    await start(loop);
    await record.seen('iteration:start');
    const drained = handOver(loop, NEVER);
    reply.resolve(answer('Done.'));
    await drained;
    expect((await store.load('r'))?.run.state).to.equal('completed');
  });

  for (const blocking of [true, false])
    it(`records the result of a tool that ${blocking ? 'blocks its turn' : 'runs beside it'}, and begins no turn`, async () => {
      const script = blocking ? [calling({ name: 'work' })] : [calling({ name: 'work' }), answer('It is under way.')];
      const first = open('first', script, { blocking });
      await start(first.loop);
      await until(() => effects.length === 1);
      if (!blocking) await until(async () => (await store.load('r'))?.run.state === 'waiting');
      const drained = handOver(first.loop, NEVER);
      outcome.resolve('done by the first');
      await drained;
      expect(await storedCall()).to.include({ state: 'completed', result: 'done by the first' });
      expect(first.provider.calls).to.have.length(script.length);
      const second = open('second', [answer('Done.')], { blocking });
      await second.loop.resume('r');
      expect(JSON.stringify(second.provider.calls[0]?.options.input)).to.contain('done by the first');
      expect(effects).to.deep.equal(['first']);
    });

  it('leaves decisions to the next process', async () => {
    const first = open('first', [calling({ name: 'work' })], { needsApproval: true });
    await start(first.loop);
    const { callId } = await first.record.seen('tool:approval_required');
    await first.loop.drain(NEVER);
    await first.loop.approve('r', callId);
    await first.loop.close();
    expect(effects).to.deep.equal([]);
    const second = open('second', [answer('Done.')], { needsApproval: true });
    await second.loop.resume('r');
    expect(effects).to.deep.equal(['second']);
  });

  it('leaves a run to other processes while it waits for a tool of another run', async () => {
    Object.assign(store, { isExclusive: false });
    const reply = deferred<LLMResponse>();
    const first = open('first', [calling({ name: 'work' }), () => reply.promise]);
    await start(first.loop);
    await until(() => effects.length === 1);
    const { done } = await first.loop.start('ann', { model: 'm', input: 'go', tools: ['work'], executionId: 's' });
    await first.record.seen('iteration:start', ({ executionId }) => executionId === 's');
    const drained = handOver(first.loop, NEVER);
    expect(await store.head('s')).to.include({ owner: first.loop.claims.ownerId });
    reply.resolve(calling({ name: 'work' }));
    expect(await failure(done)).to.be.instanceOf(LLMOverloadedError);
    expect(await store.head('s')).to.include({ owner: UNOWNED });
    // Other processes look whether this has changed.
    await until(async () => (await store.heartbeats()).get(UNOWNED) === 1);
    expect(await store.head('r')).to.include({ owner: first.loop.claims.ownerId });
    const second = open('second', [answer('Done.')]);
    await second.loop.resume('s');
    expect((await store.load('s'))?.calls.map(({ state }) => state)).to.deep.equal(['completed']);
    outcome.resolve('done by the first');
    await drained;
    expect(await storedCall()).to.include({ state: 'completed', result: 'done by the first' });
  });

  it('leaves runs that are still to be started to the queue of other processes', async () => {
    Object.assign(store, { isExclusive: false });
    const { loop, provider } = open('first', []);
    const tools = new ToolRegistry();
    const queue = new RunQueue({ loop, store, jobs: new LocalJobQueue(), tools });
    const manager = new LLMManager({ providers: { openai: provider }, toolExecutor: tools });
    const providers = new Set(['openai']);
    const access = { decide: () => Promise.resolve({ allowed: true } as const) };
    const { agenticExecution } = createUseCases({ loop, runs: store, queue, manager, providers }, { access });
    await queue.start();
    await loop.drain(NEVER);
    await queue.stop();
    const announced = (await store.heartbeats()).get(UNOWNED);
    const request = { requestId: 'q', providerId: 'openai', input: 'go', tools: [] };
    const { executionId } = await agenticExecution.start({ userId: 'ann', source: 'http' }, request);
    expect((await store.queued(10)).map((queued) => queued.executionId)).to.deep.equal([executionId]);
    expect(announced).to.equal(1);
    expect((await store.heartbeats()).get(UNOWNED)).to.equal(2);
    // A repeated request is the same run.
    expect(await agenticExecution.start({ userId: 'ann', source: 'http' }, request)).to.deep.equal({ executionId });
    expect(
      await failure(agenticExecution.execute({ userId: 'ann', source: 'http' }, { ...request, requestId: 'x' })),
    ).to.be.instanceOf(LLMOverloadedError);
  });

  it('cancels the calls of a run that was left to other processes', async () => {
    Object.assign(store, { isExclusive: false });
    const first = open('first', [calling({ name: 'work' })], { needsApproval: true });
    await start(first.loop);
    await first.record.seen('tool:approval_required');
    await first.loop.drain(NEVER);
    await until(async () => (await store.head('r'))?.owner === UNOWNED);
    const second = open('second', []);
    expect(await second.loop.cancel('r')).to.equal('cancelled');
    await second.record.seen('tool:cancelled');
    await second.record.seen('run:cancelled');
    expect(await storedCall()).to.include({ state: 'cancelled' });
  });

  it('lets a tool run again that was interrupted before it had an effect, without another approval', async () => {
    const first = open('first', [calling({ name: 'work' })], { needsApproval: true });
    await start(first.loop);
    const { callId } = await first.record.seen('tool:approval_required');
    await first.loop.approve('r', callId);
    await first.record.seen('tool:executing');
    await until(() => effects.length === 1);
    thrown = new ToolError('interrupted', 'Nothing was done yet.');
    await handOver(first.loop, AT_ONCE);
    expect(await storedCall()).to.include({ state: 'pending', isApproved: true });
    const second = open('second', [answer('Done.')], { needsApproval: true });
    await second.loop.resume('r');
    expect(effects).to.deep.equal(['first', 'second']);
  });

  it('records what an interrupted tool still returns', async () => {
    const first = open('first', [calling({ name: 'work' })]);
    await start(first.loop);
    await until(() => effects.length === 1);
    const drained = handOver(first.loop, AT_ONCE);
    outcome.resolve('just in time');
    await drained;
    expect(await storedCall()).to.include({ state: 'completed', result: 'just in time' });
  });

  it('leaves a tool to a person that failed after it was interrupted', async () => {
    const first = open('first', [calling({ name: 'work' })]);
    const { ended } = await start(first.loop);
    await until(() => effects.length === 1);
    await handOver(first.loop, AT_ONCE);
    expect(await storedCall()).to.include({ state: 'executing' });
    expect(await ended).to.be.instanceOf(LLMOverloadedError);
    const second = open('second', []);
    second.loop.resume('r').catch(() => undefined);
    await second.record.seen('tool:needs_review');
    expect(effects).to.deep.equal(['first']);
    await second.loop.close();
  });

  it('interrupts identical calls together that share one execution', async () => {
    const calls = [{ name: 'work' }, { name: 'work' }];
    const first = open('first', [calling(...calls)], { onDuplicate: 'join' });
    await start(first.loop);
    await until(() => effects.length === 1);
    thrown = new ToolError('interrupted', 'Nothing was done yet.');
    await handOver(first.loop, AT_ONCE);
    expect((await store.load('r'))?.calls.map(({ state }) => state)).to.deep.equal(['pending', 'pending']);
    const second = open('second', [answer('Done.')], { onDuplicate: 'join' });
    await second.loop.resume('r');
    expect(effects).to.deep.equal(['first', 'second']);
  });
});
