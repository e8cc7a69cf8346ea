/** The model calls of a run in the request log. */
import type { RequestView } from '../../business/ai/domain/types/RequestRecords';
import { useData } from '../hooks/BolideProvider';

/** @returns none while they load, and where the log is off; otherwise the first 200, oldest first */
export function useRunRequests(executionId: string): readonly RequestView[] {
  const loaded = useData().useQuery('ai.requests.list', { executionId, order: 'asc', limit: 200 });
  return loaded.state === 'ready' ? loaded.value.requests : NONE;
}

const NONE: readonly RequestView[] = [];
