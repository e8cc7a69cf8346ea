/** Milliseconds until the first token of a run's first model call, as the server measured and logged them. */
import { useEffect, useState } from 'react';
import { isFinished } from '../../business/ai/domain/entities/Run';
import type { RunView } from '../../business/ai/domain/types/RunViews';
import { useData } from '../hooks/BolideProvider';

/** @returns undefined until the run has ended, where the log is off, and for calls that were not streamed */
export function useTimeToFirstToken({ _id: executionId, state }: RunView): number | undefined {
  const [stored, setStored] = useState<{ readonly milliseconds: number | undefined }>();
  // What is logged does not change, so that it is asked for only until it is known.
  const isAsked = isFinished(state) && stored === undefined;
  const loaded = useData().useQuery('ai.requests.list', isAsked ? { executionId, order: 'asc', limit: 1 } : undefined);
  const first = loaded.state === 'ready' ? loaded.value.requests[0] : undefined;
  useEffect(() => {
    if (first !== undefined) setStored({ milliseconds: first.timeToFirstToken });
  }, [first]);
  return stored?.milliseconds;
}
