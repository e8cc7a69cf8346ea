/** Writes of a run and of its calls that are under way together: what the store has in between, and afterwards. */
import { expect } from 'chai';
import { RunJournal } from '../../../../../../../imports/business/ai/application/services/runs/durable/RunJournal';
import { initialProgress } from '../../../../../../../imports/business/ai/domain/entities/initialProgress';
import { applyToolEvent, createToolCall } from '../../../../../../../imports/business/ai/domain/entities/Tool';
import type { ToolCall } from '../../../../../../../imports/business/ai/domain/entities/Tool';
import { userMessage } from '../../../../../../../imports/business/ai/domain/entities/Message';
import { StoreUnavailableError } from '../../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { RunStore, StoredRun } from '../../../../../../../imports/business/ai/domain/interfaces/RunStore';
import type { Item } from '../../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { RunRequest } from '../../../../../../../imports/business/ai/domain/types/RunRecords';
import { MemoryRunStore } from '../../../../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { deferred } from '../../../../../../support/deferred';
import { until } from '../../../../../../support/until';

/** The writes of which each waits until the test lets it happen. */
type Gates = Partial<Record<'saveRun' | 'saveCalls', (() => Promise<void>)[]>>;

async function setUp() {
  const memory = new MemoryRunStore();
  const request: RunRequest = {
    executionId: 'run',
    userId: 'ann',
    requestId: 'run',
    argumentsHash: '',
    source: 'job',
    title: '',
    providerId: 'p',
    createdAt: 0,
    input: [],
    plan: { input: [], options: {}, limits: {}, tools: [] } as unknown as RunRequest['plan'],
  };
  const lease = await memory.create(request, 'running', 'me');
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
  const { transcript: _, response, ...progress } = initialProgress({ input: [], createdAt: 0 }, 'running');
  const transcript: Item[] = [];
  const calls = new Map(['c', 'd'].map((id) => [id, pendingCall(id)]));
  const journal = new RunJournal(
    {
      runs: {
        store,
        leaseMs: 1_000,
        isLeaseCurrent: () => true,
        onLeaseLost: () => undefined,
        clearTakeovers: () => Promise.resolve(),
        stateStored: () => undefined,
      },
      lease,
      storedItems: 0,
      startedAt: 0,
      metadata: { providerId: 'p', title: '', createdAt: 0 },
    },
    {
      progress: () => ({ ...progress }),
      transcript,
      response,
      compaction: undefined,
      getCall: (id) => calls.get(id)!,
      onBroken: () => undefined,
      onStoreOutage: () => undefined,
    },
    [],
  );
  const cancelCall = (): void => {
    const error = { failure: 'cancelled', message: 'Over.' } as const;
    calls.set('c', applyToolEvent(calls.get('c')!, { type: 'tool:cancelled', at: 1, error }));
    journal.callChanged('c');
  };
  return { journal, memory, transcript, gates, begun, cancelCall };
}

describe('Concurrent writes of a run’s journal', () => {
  it('store the transcript although the run was claimed again before it arrived', async () => {
    const { journal, memory, transcript, gates, begun } = await setUp();
    const calls = deferred<never>();
    const run = deferred<undefined>();
    gates.saveCalls = [() => calls.promise];
    journal.callChanged('c');
    const first = journal.flush();
    await until(() => begun.includes('saveCalls'));
    gates.saveRun = [() => run.promise];
    transcript.push(userMessage('It has grown.'));
    journal.runChanged();
    const second = journal.flush();
    await until(() => begun.filter((name) => name === 'saveRun').length === 2);
    // The journal claims the run again, so that the write under the lease of before changes nothing.
    calls.reject(new StoreUnavailableError('away'));
    await first;
    run.resolve(undefined);
    await second;
    expect((await memory.load('run'))?.run.transcript).to.deep.equal(transcript);
  });

  it('store no call before the transcript that it is in', async () => {
    const { journal, memory, transcript, gates, begun } = await setUp();
    const slow = deferred<undefined>();
    const run = deferred<undefined>();
    gates.saveCalls = [() => slow.promise];
    gates.saveRun = [() => Promise.resolve(), () => Promise.resolve(), () => run.promise];
    for (const count of [1, 2]) {
      journal.callChanged('c');
      journal.runChanged();
      void journal.flush();
      await until(() => begun.filter((name) => name === 'saveRun').length === count);
    }
    transcript.push(userMessage('The model has called d.'));
    journal.runChanged();
    journal.callChanged('d');
    const last = journal.flush();
    await until(() => begun.filter((name) => name === 'saveRun').length === 3);
    slow.resolve(undefined);
    await until(() => begun.filter((name) => name === 'saveCalls').length === 2);
    expect((await memory.load('run'))?.calls.map(({ id }) => id)).to.deep.equal(['c']);
    run.resolve(undefined);
    await last;
    expect((await memory.load('run'))?.calls.map(({ id }) => id)).to.deep.equal(['c', 'd']);
  });

  it('store no cancelled call before the error that has cancelled it', async () => {
    const { journal, memory, gates, begun, cancelCall } = await setUp();
    const run = deferred<undefined>();
    const end = deferred<undefined>();
    gates.saveRun = [() => run.promise, () => end.promise];
    journal.callChanged('c');
    const flushed = journal.flush();
    await until(() => begun.includes('saveRun'));
    journal.recordEndIntent({ code: 'aborted', message: 'The run was cancelled.' });
    cancelCall();
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
