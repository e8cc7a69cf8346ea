/** `trackDelta` as a React hook. */
import { trackDelta } from './trackDelta';
import type { TrackedDelta } from './trackDelta';
import { useTracked } from './useTracked';

export function useDelta(executionId: string | undefined): TrackedDelta {
  return useTracked(() => trackDelta(executionId), [executionId]);
}
