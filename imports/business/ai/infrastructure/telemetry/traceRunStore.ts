/** Stores the trace of each run with it, and reads it when a process claims the run. */
import { isLLMError } from '../../domain/errors/LLMErrors';
import type { RunStore } from '../../domain/interfaces/RunStore';
import type { RunSpans } from './RunSpans';

type Traced = Pick<RunStore, 'create' | 'claim' | 'saveRun' | 'saveCalls' | 'park'>;

export function traceRunStore(store: RunStore, runs: RunSpans): RunStore {
  /** A refused write means that the run has another owner. */
  const owned = async (executionId: string, write: Promise<boolean>): Promise<boolean> => {
    const isWritten = await write;
    if (!isWritten) runs.left(executionId);
    return isWritten;
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
