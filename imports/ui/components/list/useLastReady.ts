/** Shows the last result while that of a new filter or page loads, so that the list does not blink. */
import { useRef } from 'react';
import type { Loaded } from '../../data/DashboardData';

export interface LastReady<T> {
  readonly shown: Loaded<T>;
  /** What is shown is the result of an earlier argument. */
  readonly isStale: boolean;
}

export function useLastReady<T>(loaded: Loaded<T>): LastReady<T> {
  const last = useRef<Loaded<T>>(loaded);
  if (loaded.state !== 'loading') last.current = loaded;
  const isStale = loaded.state === 'loading' && last.current.state === 'ready';
  return { shown: isStale ? last.current : loaded, isStale };
}
