/** Runs that are recovered into another world: their user was removed, or a tool's schema has changed. */
import { expect } from 'chai';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import type { AgenticLoopOptions } from '../../imports/business/ai/application/services/AgenticLoop';
import { LLMAbortedError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { RunQueue } from '../../imports/business/ai/application/services/RunQueue';
import { LocalJobQueue } from '../../imports/business/ai/infrastructure/jobs/LocalJobQueue';
import { MemoryRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling } from '../../imports/testing/responses';
import { ScriptedProvider } from '../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../imports/testing/ScriptedProvider';
import { failure } from '../support/failure';
import { recordEvents } from '../support/recordEvents';
import { RecordingLogger } from '../support/RecordingLogger';
import { until } from '../support/until';

const RUN = 'run';
const ORIGIN = { source: 'run' } as const;

describe('a run whose user is removed', () => {
  let store: MemoryRunStore;
  let isRemoved: boolean | Error;
  let effects: number;
  const access: AgenticLoopOptions['access'] = {
    isRemoved: () => (isRemoved instanceof Error ? Promise.reject(isRemoved) : Promise.resolve(isRemoved)),
  };
  beforeEach(() => {
    store = new MemoryRunStore();
    isRemoved = false;
    effects = 0;
  });
  const process = (script: readonly ScriptedStep[]) => {
    const provider = new ScriptedProvider(script);
    const logger = new RecordingLogger();
    const toolExecutor = new ToolRegistry()
      .register({ name: 'count', idempotent: true, execute: () => (effects += 1) })
      .register({ name: 'ask', needsApproval: true, execute: () => (effects += 1) });
    const loop = new AgenticLoop({ provider, toolExecutor, runStore: store, access, logger });
    return { loop, provider, logger, record: recordEvents(loop) };
  };
  const options = { model: 'm', input: 'go', tools: ['count', 'ask'], executionId: RUN };
  const expectEnd = async (error: unknown): Promise<void> => {
    expect(error).to.be.instanceOf(LLMAbortedError);
    expect((error as Error).message).to.equal('The run was cancelled because its user "ann" no longer exists.');
    const { run } = (await store.load(RUN))!;
    expect(run).to.deep.include({ state: 'cancelled' });
    expect(run.error).to.include({ code: 'aborted', message: (error as Error).message });
  };

  it('ends at its next turn', async () => {
    const { loop, provider, record } = process([
      () => ((isRemoved = true), calling({ name: 'count', call_id: 'c' })),
      answer('done'),
    ]);
    await expectEnd(await failure(loop.execute('ann', { ...options, origin: ORIGIN })));
    expect(provider.calls).to.have.length(1);
    expect(record.lines.at(-1)).to.equal('run:cancelled');
  });

  it('ends when it is recovered, before any of its calls goes on', async () => {
    const first = process([calling({ name: 'ask', call_id: 'a' })]);
    void first.loop.execute('ann', { ...options, origin: ORIGIN }).catch(() => undefined);
    await first.record.seen('tool:approval_required');
    await first.loop.close();
    isRemoved = true;
    const next = process([answer('done')]);
    await expectEnd(await failure(next.loop.resume(RUN)));
    expect(next.provider.calls).to.have.length(0);
    expect(next.record.lines).to.deep.equal(['run:started', 'tool:cancelled ask', 'run:cancelled']);
    expect(effects).to.equal(0);
  });

  it('goes on if the app itself started it, or its user cannot be looked up', async () => {
    isRemoved = true;
    expect((await process([answer('done')]).loop.execute('ann', options)).response.output_text).to.equal('done');
    isRemoved = new Error('The database is away.');
    const { loop, logger } = process([answer('done')]);
    const again = { ...options, origin: ORIGIN, executionId: 'again' };
    expect((await loop.execute('ann', again)).response.output_text).to.equal('done');
    expect(logger.warnings.join()).to.include('so the run goes on');
  });
});

describe('a call that was interrupted before its tool changed', () => {
  const schema = (name: string) => ({ type: 'object', properties: { [name]: { type: 'number' } }, required: [name] });
  const process = (
    store: MemoryRunStore,
    field: string,
    execute: () => unknown,
    script: readonly ScriptedStep[],
    readOnly = false,
  ) => {
    const toolExecutor = new ToolRegistry().register({
      name: 'charge',
      idempotent: true,
      readOnly,
      parameters: schema(field),
      execute,
    });
    const provider = new ScriptedProvider(script);
    const loop = new AgenticLoop({ provider, toolExecutor, runStore: store, logger: new RecordingLogger() });
    return { loop, provider, record: recordEvents(loop) };
  };
  const interrupt = async (store: MemoryRunStore): Promise<void> => {
    const call = calling({ name: 'charge', call_id: 'c', arguments: { euros: 12 } });
    const { loop, record } = process(store, 'euros', () => new Promise(() => undefined), [call]);
    void loop.execute('ann', { model: 'm', input: 'go', tools: ['charge'], executionId: RUN }).catch(() => undefined);
    await record.seen('tool:executing');
    await loop.close();
  };

  it('needs a review if its arguments no longer fit, although it has a key', async () => {
    const store = new MemoryRunStore();
    await interrupt(store);
    let effects = 0;
    const { loop, provider, record } = process(store, 'cents', () => (effects += 1), [answer('done')]);
    const done = loop.resume(RUN);
    await record.seen('tool:needs_review');
    expect(await loop.submitToolResult(RUN, 'c', { output: 'charged' })).to.equal('accepted');
    expect((await done).toolCalls[0]).to.deep.include({ state: 'completed', result: 'charged' });
    expect(effects).to.equal(0);
    expect(provider.calls).to.have.length(1);
  });

  it('fails with invalid arguments if its tool changes nothing, so that there is nothing to review', async () => {
    const store = new MemoryRunStore();
    await interrupt(store);
    const { loop } = process(store, 'cents', () => 'never', [answer('done')], true);
    expect((await loop.resume(RUN)).toolCalls[0]).to.nested.include({ 'error.failure': 'invalid-arguments' });
  });

  it('fails with invalid arguments if a person has it run again all the same', async () => {
    const store = new MemoryRunStore();
    await interrupt(store);
    const { loop, record } = process(store, 'cents', () => 'never', [answer('done')]);
    const done = loop.resume(RUN);
    const { startTime } = await record.seen('tool:needs_review');
    await loop.rerun(RUN, 'c', startTime);
    const [call] = (await done).toolCalls;
    expect(call?.state === 'failed' && call.error.failure).to.equal('invalid-arguments');
  });

  it('runs again under its key if they still do', async () => {
    const store = new MemoryRunStore();
    await interrupt(store);
    const { loop } = process(store, 'euros', () => 'charged', [answer('done')]);
    expect((await loop.resume(RUN)).toolCalls[0]).to.deep.include({ state: 'completed', result: 'charged' });
  });
});

describe('a run whose tool has changed', () => {
  type Change = Partial<Parameters<ToolRegistry['register']>[0]>;
  const process = (store: MemoryRunStore, change: Change, script: readonly ScriptedStep[] = [answer('done')]) => {
    const toolExecutor = new ToolRegistry().register({
      name: 'charge',
      description: 'Charges euros.',
      parameters: { type: 'object', properties: { amount: { type: 'number' } }, additionalProperties: false },
      needsApproval: true,
      execute: () => 'charged',
      ...change,
    } as never);
    const provider = new ScriptedProvider(script);
    const loop = new AgenticLoop({ provider, toolExecutor, runStore: store, logger: new RecordingLogger() });
    return { loop, provider, toolExecutor, record: recordEvents(loop) };
  };
  const begin = async (change: Change = {}): Promise<MemoryRunStore> => {
    const store = new MemoryRunStore();
    const { loop, record } = process(store, change, [calling({ name: 'charge', call_id: 'c', arguments: {} })]);
    void loop.execute('ann', { model: 'm', input: 'go', tools: ['charge'], executionId: RUN }).catch(() => undefined);
    await record.seen('tool:approval_required');
    await loop.close();
    return store;
  };
  const runOf = async (store: MemoryRunStore) => (await store.load(RUN))!.run;

  it('says so and goes on, unless the tool demands otherwise', async () => {
    for (const change of [
      { description: 'Charges cents.' },
      { parameters: { type: 'object', properties: {} } },
      { kind: 'external' },
    ] as const) {
      const store = await begin();
      const { loop, record } = process(store, change);
      void loop.resume(RUN).catch(() => undefined);
      expect(await record.seen('run:started')).to.deep.include({ changedTools: ['charge'] });
      await loop.approve(RUN, 'c');
      if ('kind' in change) await loop.submitToolResult(RUN, 'c', { output: 'charged' });
      await record.seen('run:completed');
      expect(await runOf(store)).to.deep.include({ state: 'completed', changedTools: ['charge'] });
    }
  });

  it('says nothing of what is not part of the definition', async () => {
    const store = await begin();
    const parameters = { additionalProperties: false, properties: { amount: { type: 'number' } }, type: 'object' };
    const { loop, record } = process(store, { timeout: 5, onChange: 'end', idempotent: true, parameters });
    void loop.resume(RUN).catch(() => undefined);
    expect(await record.seen('run:started')).to.not.have.property('changedTools');
    await loop.close();
  });

  it('waits for a person, who has it go on with the new definition, and is asked once', async () => {
    const store = await begin();
    const change = { description: 'Charges cents.', onChange: 'ask' } as const;
    const first = process(store, change);
    const [lease] = await store.leased(1);
    expect(await first.loop.claims.recover(lease!)).to.equal(undefined);
    const { parked, state } = await runOf(store);
    expect(state).to.equal('waiting');
    expect(parked).to.include({ reason: 'tool-changed' });
    expect(parked?.message).to.contain('charge');
    expect(first.record.lines).to.deep.equal(['run:parked']);
    const { seq } = await first.record.seen('run:parked', ({ reason }) => reason === 'tool-changed');
    await first.loop.resumeParked(RUN);
    expect((await first.record.seen('run:started')).seq).to.be.greaterThan(seq);
    await first.loop.close();
    const next = process(store, change);
    void next.loop.resume(RUN).catch(() => undefined);
    await next.record.seen('run:started');
    await next.loop.approve(RUN, 'c');
    await next.record.seen('run:completed');
    expect(await runOf(store)).to.deep.include({ changedTools: ['charge'] });
  });

  it('asks again about another change', async () => {
    const store = await begin();
    const change = (description: string) => ({ description, onChange: 'ask' }) as const;
    const first = process(store, change('second'));
    void first.loop.resume(RUN).catch(() => undefined);
    await until(async () => (await runOf(store)).parked !== undefined);
    await first.loop.resumeParked(RUN);
    await first.record.seen('run:started');
    await first.loop.close();
    const next = process(store, change('third'));
    void next.loop.resume(RUN).catch(() => undefined);
    await until(async () => (await runOf(store)).parked !== undefined);
    expect((await runOf(store)).parked).to.include({ reason: 'tool-changed' });
  });

  it('ends with an error that names the tool, and calls nothing', async () => {
    const store = await begin();
    const { loop, provider } = process(store, { description: 'Charges cents.', onChange: 'end' });
    const error = (await failure(loop.resume(RUN))) as Error;
    expect(error.message).to.match(/has changed since the run began.*charge/);
    expect(await runOf(store)).to.deep.include({ state: 'failed', changedTools: ['charge'] });
    expect(provider.calls).to.have.length(0);
  });

  it('is of no matter to a run that has not begun, and counts from its beginning', async () => {
    const store = new MemoryRunStore();
    const queuing = process(store, {});
    const jobs = new LocalJobQueue({ concurrency: 1 });
    const { toolExecutor } = queuing;
    const queue = new RunQueue({ loop: queuing.loop, store, jobs, tools: toolExecutor, logger: new RecordingLogger() });
    await queue.add('ann', { model: 'm', input: 'go', tools: ['charge'], executionId: RUN });
    const change = { description: 'Charges cents.', onChange: 'end' } as const;
    const first = process(store, change, [calling({ name: 'charge', call_id: 'c', arguments: {} })]);
    const started = await first.loop.claims.startQueued(RUN);
    started?.done.catch(() => undefined);
    await first.record.seen('tool:approval_required');
    await first.loop.close();
    const next = process(store, change);
    void next.loop.resume(RUN).catch(() => undefined);
    expect(await next.record.seen('run:started')).to.not.have.property('changedTools');
    await next.loop.close();
  });
});
