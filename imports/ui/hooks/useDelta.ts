/** What the model writes in a run, for components that show nothing else of it. */
import { useMemo } from 'react';
import { observeRun } from '../conversations/observeRun';
import type { LiveText } from '../data/DashboardData';
import { Derived } from '../data/Derived';
import type { ReadonlyObservable } from '../data/Observable';
import { useData } from './BolideProvider';
import { useObservable } from './useObservable';

/**
 * Everything that the model has written in the run so far. The component is rendered again when it writes more, and not
 * when a call or the state changes.
 * @param executionId undefined as long as no run has been started
 */
export function useDelta(executionId: string | undefined): LiveText {
  const { source } = useData();
  return useObservable(useMemo(() => textOf(observeRun(source, executionId)), [source, executionId]));
}

function textOf(run: ReadonlyObservable<LiveText>): ReadonlyObservable<LiveText> {
  let last: LiveText = { text: '', reasoning: '' };
  return new Derived((read) => {
    const { text, reasoning } = read(run);
    if (text !== last.text || reasoning !== last.reasoning) last = { text, reasoning };
    return last;
  });
}
