/** A run, live: its state, its text as the model writes it, its calls, and the commands it accepts. */
import { useMemo } from 'react';
import { observeRun } from '../conversations/observeRun';
import type { LiveRun } from '../conversations/observeRun';
import { useData } from './BolideProvider';
import { useObservable } from './useObservable';

/** @param executionId undefined as long as no run has been started */
export function useRun(executionId: string | undefined): LiveRun {
  const { source } = useData();
  return useObservable(useMemo(() => observeRun(source, executionId), [source, executionId]));
}
