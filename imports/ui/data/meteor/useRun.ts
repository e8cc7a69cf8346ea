/** `trackRun` as a React hook. */
import { trackRun } from './trackRun';
import type { TrackedRun } from './trackRun';
import { useTracked } from './useTracked';

export function useRun(executionId: string | undefined): TrackedRun {
  return useTracked(() => trackRun(executionId), [executionId]);
}
