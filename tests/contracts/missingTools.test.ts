/** Processes with different tools that share one store, as during a deployment. */
import { expect } from 'chai';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { RunQueue } from '../../imports/business/ai/application/services/RunQueue';
import { RunRecovery } from '../../imports/business/ai/application/services/RunRecovery';
import { UNOWNED } from '../../imports/business/ai/domain/entities/Run';
import { isFunctionTool } from '../../imports/business/ai/domain/entities/Tool';
import type { RunStore } from '../../imports/business/ai/domain/interfaces/RunStore';
import { LocalJobQueue } from '../../imports/business/ai/infrastructure/jobs/LocalJobQueue';
import { MemoryRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling } from '../../imports/testing/responses';
import { ScriptedProvider } from '../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../imports/testing/ScriptedProvider';
import { recordEvents } from '../support/recordEvents';
import { RecordingLogger } from '../support/RecordingLogger';
import { until } from '../support/until';
import { VirtualTime } from '../support/VirtualTime';

const RUN = 'run';
const WAIT_MS = 60_000;

/** Makes the store look shared with other processes. */
function shared(store: MemoryRunStore): RunStore {
  return new Proxy<RunStore>(store, {
    get: (target, name) => {
      if (name === 'isExclusive') return false;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

describe('a process that lacks a tool', () => {
  let store: RunStore;
  let effects: string[];
  let time: VirtualTime;
  const processes: { close(): Promise<void> }[] = [];
  beforeEach(() => {
    time = VirtualTime.start();
    store = shared(new MemoryRunStore());
    effects = [];
  });
  afterEach(async () => {
    try {
      for (const each of processes.splice(0)) await each.close();
    } finally {
      time.stop();
    }
  });

  const process = (tools: readonly string[], script: readonly ScriptedStep[] = []) => {
    const provider = new ScriptedProvider(script);
    const logger = new RecordingLogger();
    const toolExecutor = new ToolRegistry();
    for (const name of tools)
      toolExecutor.register({
        name,
        needsApproval: name === 'ask',
        execute: () => {
          effects.push(name);
          return name === 'stuck' ? new Promise(() => undefined) : 'done';
        },
      });
    const loop = new AgenticLoop({ provider, toolExecutor, runStore: store, logger, toolWaitMs: WAIT_MS });
    const recovery = new RunRecovery({ loop, store, logger });
    const one = {
      ...{ loop, provider, logger, toolExecutor, recovery, record: recordEvents(loop) },
      close: async (): Promise<void> => {
        recovery.stop();
        await loop.close();
      },
    };
    processes.push(one);
    return one;
  };
  /** A run whose process has left while its call was in that state. */
  const leave = async (tool: 'ask' | 'stuck', offered: readonly string[] = [tool]): Promise<void> => {
    const first = process(offered, [calling({ name: tool, call_id: 'c' })]);
    const { done } = await first.loop.start('ann', { model: 'm', input: 'go', tools: offered, executionId: RUN });
    done.catch(() => undefined);
    await first.record.seen(tool === 'ask' ? 'tool:approval_required' : 'tool:executing');
    await first.close();
  };
  const load = async () => (await store.load(RUN))!;
  const passWait = (): Promise<void> => time.pass(WAIT_MS + 1_000);

  it('leaves a run to one that has it, in whichever order they look for lost runs', async () => {
    for (const order of ['old first', 'new first']) {
      store = shared(new MemoryRunStore());
      await leave('ask');
      const [old, next] = [process([]), process(['ask'], [answer('done')])];
      if (order === 'old first') {
        expect(await old.recovery.scan()).to.equal(0);
        const { run, calls } = await load();
        expect(run.awaitedTools?.names).to.deep.equal(['ask']);
        expect(run).to.include({ state: 'running', takeovers: 0 });
        expect(calls[0]).to.include({ state: 'awaiting_approval' });
        expect(old.logger.warnings.join()).to.include('which this one lacks: ask');
      }
      expect(await next.recovery.scan()).to.equal(1);
      const { seq } = await next.record.seen('run:started');
      for (const told of old.record.events) {
        expect(told).to.include({ type: 'run:awaiting_tools', userId: 'ann' });
        expect(told.seq).to.be.lessThan(seq);
      }
      expect((await load()).run).to.not.have.property('awaitedTools');
      expect(await old.recovery.scan()).to.equal(0);
      const approved = old.loop.approve(RUN, 'c');
      await time.passUntilSettled(next.record.seen('run:completed'));
      await approved;
      expect((await load()).calls[0]).to.include({ state: 'completed', result: 'done' });
      expect(old.record.lines).to.deep.equal(order === 'old first' ? ['run:awaiting_tools'] : []);
    }
  });

  it('leaves it also a run that is merely offered the tool, and looks at it no more', async () => {
    await leave('ask', ['ask', 'other']);
    const old = process(['ask']);
    await old.recovery.scan();
    expect((await load()).run.awaitedTools?.names).to.deep.equal(['other']);
    expect(await store.leased(10, [], old.loop.claims.toolWaits)).to.deep.equal([]);
    expect(await store.leased(10, [], process([]).loop.claims.toolWaits)).to.have.length(1);
  });

  it('leaves it to one that starts after it was killed itself', async () => {
    await leave('ask');
    const old = process([]);
    await old.recovery.scan();
    await old.close();
    const next = process(['ask'], [answer('done')]);
    await next.recovery.scan();
    await next.record.seen('run:started');
    await next.loop.approve(RUN, 'c');
    await next.record.seen('run:completed');
  });

  it('fails the calls of a tool that nobody has had for long, and offers it no more', async () => {
    await leave('ask', ['ask', 'other']);
    const next = process(['other'], [answer('done without')]);
    await next.recovery.scan();
    await passWait();
    expect(await next.recovery.scan()).to.equal(1);
    await next.record.seen('run:completed');
    const { run, calls } = await load();
    expect(run).to.deep.include({ state: 'completed', missingTools: ['ask'] });
    expect(run).to.not.have.property('awaitedTools');
    expect(calls[0]).to.deep.include({ state: 'failed' });
    const error = calls[0]?.state === 'failed' ? calls[0].error : undefined;
    expect(error).to.include({ failure: 'unknown-tool' });
    expect(error?.message).to.match(/^The tool "ask" no longer exists\. The offered tools are: other\.$/);
    const tools = next.provider.calls[0]?.options.tools ?? [];
    expect(tools.map((tool) => 'name' in tool && tool.name)).to.deep.equal(['other']);
  });

  it('takes no second wait when the process that went on without the tool is lost, too', async () => {
    await leave('ask');
    const next = process([], [() => new Promise(() => undefined)]);
    await next.recovery.scan();
    await passWait();
    await next.recovery.scan();
    await next.record.seen('iteration:start');
    await next.loop.drain(AbortSignal.abort());
    await next.close();
    const last = process([], [answer('done')]);
    expect(await last.recovery.scan()).to.equal(1);
    await last.record.seen('run:completed');
  });

  it('leaves a call that may have taken effect to a person, although its tool is gone', async () => {
    await leave('stuck');
    const next = process([], [answer('done')]);
    await next.recovery.scan();
    await passWait();
    await next.recovery.scan();
    await next.record.seen('tool:needs_review');
    await next.loop.submitToolResult(RUN, 'c', { output: 'it did' });
    await next.record.seen('run:completed');
    expect((await load()).calls[0]).to.include({ state: 'completed', result: 'it did' });
  });

  it('goes on at once where no other process can have the tool', async () => {
    store = new MemoryRunStore();
    await leave('ask');
    const next = process([], [answer('done')]);
    expect(await next.recovery.scan()).to.equal(1);
    await next.record.seen('run:completed');
  });

  it('leaves a queued run to others, which notice at once', async () => {
    const next = process(['ask'], [answer('done')]);
    // Only the watch is fast.
    const recovery = new RunRecovery({
      loop: next.loop,
      store,
      watchIntervalMs: 5,
      scanIntervalMs: 600_000,
      logger: next.logger,
    });
    await recovery.start();
    const { loop, record } = process([]);
    const jobs = new LocalJobQueue({ concurrency: 1 });
    // Whatever process accepts the request, any may take the job.
    const accepting = new RunQueue({ loop: next.loop, store, jobs, tools: next.toolExecutor, logger: next.logger });
    await accepting.add('ann', { model: 'm', input: 'go', tools: ['ask'], executionId: RUN });
    expect(await loop.claims.startQueued(RUN)).to.equal(undefined);
    // Only the watch has passed, none of the scans.
    await time.pass(5);
    await next.record.seen('run:completed');
    recovery.stop();
    expect(record.lines).to.deep.equal(['run:awaiting_tools']);
    expect((await load()).run.takeovers).to.equal(0);
  });

  it('has a parked run go on in another that a person resumes', async () => {
    await leave('ask');
    const [lease] = await store.leased(1);
    await store.park(lease!, { reason: 'max-takeovers', message: 'It kills.', at: 1 });
    const old = process([]);
    expect(await old.loop.resumeParked(RUN)).to.equal('waiting');
    const { run } = await load();
    expect(run).to.include({ owner: UNOWNED, takeovers: 0 });
    expect(run).to.not.have.property('parked');
    const next = process(['ask'], [answer('done')]);
    await next.recovery.scan();
    await next.record.seen('run:started');
  });

  it('cancels a run that waits for its tools at once, also if it was told to before', async () => {
    for (const isEarlier of [false, true]) {
      store = shared(new MemoryRunStore());
      await leave('ask');
      const old = process([]);
      if (isEarlier) expect(await old.loop.cancel(RUN)).to.equal('running');
      await old.recovery.scan();
      if (isEarlier) await old.recovery.scan();
      else expect(await old.loop.cancel(RUN)).to.equal('cancelled');
      await until(async () => (await load()).run.state === 'cancelled');
      const { run, calls } = await load();
      expect(run).to.not.have.property('awaitedTools');
      expect(calls[0]).to.include({ state: 'cancelled' });
      expect(run.transcript.length).to.be.greaterThan(1);
    }
  });

  it('needs no tools that the caller itself supplies, or that no process ever had', async () => {
    const first = process([], [calling({ name: 'browser', call_id: 'c' })]);
    const tools = [
      { type: 'function', name: 'browser', kind: 'external' },
      { type: 'function', name: 'unknown' },
    ] as const;
    expect(tools.every(isFunctionTool)).to.equal(true);
    void first.loop.execute('ann', { model: 'm', input: 'go', tools, executionId: RUN }).catch(() => undefined);
    await first.record.seen('tool:executing');
    await first.close();
    const next = process([], [answer('done')]);
    expect(await next.recovery.scan()).to.equal(1);
    await next.record.seen('run:started');
    await next.loop.submitToolResult(RUN, 'c', { output: 'seen' });
    await next.record.seen('run:completed');
    expect((await load()).run).to.not.have.property('missingTools');
  });

  it('does not force a tool on the model that is gone', async () => {
    const first = process(['ask'], [calling({ name: 'ask', call_id: 'c' })]);
    const options = { model: 'm', input: 'go', tools: ['ask'], executionId: RUN };
    void first.loop
      .execute('ann', { ...options, tool_choice: { type: 'function', name: 'ask' } })
      .catch(() => undefined);
    await first.record.seen('tool:approval_required');
    await first.close();
    const next = process([], [answer('done')]);
    await next.recovery.scan();
    await passWait();
    await next.recovery.scan();
    await next.record.seen('run:completed');
    expect(next.provider.calls[0]?.options).to.not.have.any.keys('tools', 'tool_choice');
  });
});
