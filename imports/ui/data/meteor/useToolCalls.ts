/** `trackToolCalls` as a React hook. */
import { trackToolCalls } from './trackToolCalls';
import type { ToolCallFilter, TrackedToolCalls } from './trackToolCalls';
import { useTracked } from './useTracked';

export function useToolCalls(filter: string | ToolCallFilter | undefined): TrackedToolCalls {
  // A filter is usually written inline, as a new object in each rendering.
  const key = typeof filter === 'object' ? `${filter.executionId ?? ''} ${filter.state ?? ''}` : filter;
  return useTracked(() => trackToolCalls(filter), [key]);
}
