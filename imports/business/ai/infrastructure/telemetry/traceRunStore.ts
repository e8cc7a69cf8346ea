/** Stores the trace of each run with it, reads it when a process claims the run, and times the journal's writes. */
import { isLLMError } from '../../domain/errors/LLMErrors';
import type { RunStore } from '../../domain/interfaces/RunStore';
import type { RunRequest } from '../../domain/types/RunRecords';
import type { TraceContext } from '../../domain/types/TraceContext';
import type { MetricRecorder } from './metrics/MetricRecorder';

/** Learns of runs as their store does: see `RunSpans`. */
export interface StoredRunListener {
  created(request: RunRequest, state: 'queued' | 'running'): TraceContext | undefined;
  refused(executionId: string, errorType: string): void;
  claim(executionId: string, stored: TraceContext | undefined): void;
  left(executionId: string): void;
}

type Traced = Pick<RunStore, 'create' | 'claim' | 'saveRun' | 'saveCalls' | 'park'>;

export function traceRunStore(store: RunStore, runs: StoredRunListener, metrics: MetricRecorder): RunStore {
  /** A refused write means that the run has another owner. */
  const owned = async (executionId: string, write: Promise<boolean>): Promise<boolean> => {
    const startedAt = performance.now();
    const measure = (errorType?: string): void =>
      metrics.record('bolide.journal.write.duration', (performance.now() - startedAt) / 1_000, {
        ...(errorType === undefined ? {} : { 'error.type': errorType }),
      });
    try {
      const isWritten = await write;
      measure();
      if (!isWritten) runs.left(executionId);
      return isWritten;
    } catch (error) {
      measure(isLLMError(error) ? error.code : '_OTHER');
      throw error;
    }
  };
  const traced: Traced = {
    async create(request, state, owner) {
      const trace = runs.created(request, state);
      try {
        return await store.create(trace === undefined ? request : { ...request, trace }, state, owner);
      } catch (error) {
        runs.refused(request.executionId, isLLMError(error) ? error.code : '_OTHER');
        throw error;
      }
    },
    async claim(lease, owner, reason, suspicion) {
      const claimed = await store.claim(lease, owner, reason, suspicion);
      if (claimed !== undefined) runs.claim(lease.executionId, claimed.run.trace);
      return claimed;
    },
    saveRun: (lease, ...change) => owned(lease.executionId, store.saveRun(lease, ...change)),
    saveCalls: (lease, calls) => owned(lease.executionId, store.saveCalls(lease, calls)),
    async park(lease, parked) {
      runs.left(lease.executionId);
      return store.park(lease, parked);
    },
  };
  return new Proxy(store, {
    get(target, name) {
      if (Object.hasOwn(traced, name)) return traced[name as keyof Traced];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
