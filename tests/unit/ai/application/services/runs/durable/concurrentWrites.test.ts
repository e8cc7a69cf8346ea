/** Writes of a run and of its calls that are under way together: what the store has in between, and afterwards. */
import { expect } from 'chai';
import { applyToolEvent, createToolCall } from '../../../../../../../imports/business/ai/domain/entities/Tool';
import type { ToolCall } from '../../../../../../../imports/business/ai/domain/entities/Tool';
import { userMessage } from '../../../../../../../imports/business/ai/domain/entities/Message';
import {
  LLMAbortedError,
  StoreUnavailableError,
} from '../../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { RunStore, StoredRun } from '../../../../../../../imports/business/ai/domain/interfaces/RunStore';
import { MemoryRunStore } from '../../../../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { deferred } from '../../../../../../support/deferred';
import { until } from '../../../../../../support/until';
import { WRITTEN_REQUEST, writtenRun } from '../../../../../../support/writtenRun';

/** The writes of which each waits until the test lets it happen. */
type Gates = Partial<Record<'saveRun' | 'saveCalls', (() => Promise<void>)[]>>;

async function setUp() {
  const memory = new MemoryRunStore();
  const lease = await memory.create(WRITTEN_REQUEST, 'running', 'me');
  const gates: Gates = {};
  /** Names of the writes that have begun, in their order. */
  const begun: string[] = [];
  const store = new Proxy<RunStore>(memory, {
    get(target, name, receiver) {
      const method = Reflect.get(target, name, receiver) as (...args: unknown[]) => Promise<unknown>;
      if (name !== 'saveRun' && name !== 'saveCalls') return method.bind(target);
      return async (...args: unknown[]) => {
        begun.push(name);
        await gates[name]?.shift()?.();
        return method.apply(target, args);
      };
    },
  });
  const run = writtenRun(store, lease);
  const say = (text: string): void => {
    run.change({ transcript: [...(run.state().transcript ?? []), userMessage(text)] });
  };
  return { ...run, memory, gates, begun, say };
}

describe('Concurrent writes of a run’s writer', () => {
  it('store the transcript although the run was claimed again before it arrived', async () => {
    const { writer, state, setCall, say, memory, gates, begun } = await setUp();
    const calls = deferred<never>();
    const run = deferred<undefined>();
    gates.saveCalls = [() => calls.promise];
    setCall(pendingCall('c'));
    const first = writer.flush();
    await until(() => begun.includes('saveCalls'));
    gates.saveRun = [() => run.promise];
    say('It has grown.');
    const second = writer.flush();
    await until(() => begun.filter((name) => name === 'saveRun').length === 2);
    // The writer claims the run again, so that the write under the lease of before changes nothing.
    calls.reject(new StoreUnavailableError('away'));
    await first;
    run.resolve(undefined);
    await second;
    expect((await memory.load('run'))?.run.transcript).to.deep.equal(state().transcript);
  });

  it('store no call before the transcript that it is in', async () => {
    const { writer, setCall, change, say, memory, gates, begun } = await setUp();
    const slow = deferred<undefined>();
    const run = deferred<undefined>();
    gates.saveCalls = [() => slow.promise];
    gates.saveRun = [() => Promise.resolve(), () => Promise.resolve(), () => run.promise];
    for (const count of [1, 2]) {
      setCall({ ...pendingCall('c'), createdAt: count });
      change({ iterations: count });
      void writer.flush();
      await until(() => begun.filter((name) => name === 'saveRun').length === count);
    }
    say('The model has called d.');
    setCall(pendingCall('d'));
    const last = writer.flush();
    await until(() => begun.filter((name) => name === 'saveRun').length === 3);
    slow.resolve(undefined);
    await until(() => begun.filter((name) => name === 'saveCalls').length === 2);
    expect((await memory.load('run'))?.calls.map(({ id }) => id)).to.deep.equal(['c']);
    run.resolve(undefined);
    await last;
    expect((await memory.load('run'))?.calls.map(({ id }) => id)).to.deep.equal(['c', 'd']);
  });

  it('store no cancelled call before the error that has cancelled it', async () => {
    const { writer, setCall, change, memory, gates, begun } = await setUp();
    const run = deferred<undefined>();
    const end = deferred<undefined>();
    gates.saveRun = [() => run.promise, () => end.promise];
    setCall(pendingCall('c'));
    const flushed = writer.flush();
    await until(() => begun.includes('saveRun'));
    const error = { failure: 'cancelled', message: 'Over.' } as const;
    setCall(applyToolEvent(pendingCall('c'), { type: 'tool:cancelled', at: 1, error }));
    change({ error: new LLMAbortedError('The run was cancelled.') });
    run.resolve(undefined);
    await until(() => begun.length === 2);
    // A process that takes the run over now must not go on with a call that seems to be cancelled.
    expect(summary(await memory.load('run'))).to.deep.equal([undefined, 'pending']);
    end.resolve(undefined);
    await flushed;
    expect(summary(await memory.load('run'))).to.deep.equal(['aborted', 'cancelled']);
  });
});

function pendingCall(id: string): ToolCall {
  return createToolCall({ id, call_id: id, name: 't', arguments: '{}', blocking: true, createdAt: 0 });
}

function summary(stored: StoredRun | undefined): readonly (string | undefined)[] {
  return [stored?.run.error?.code, stored?.calls[0]?.state];
}
