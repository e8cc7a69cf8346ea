/** The runs that a text finds, as commands that open them. */
import { useMemo } from 'react';
import { useDebounced } from '../components/useDebounced';
import { formatDateTime } from '../format/format';
import { useData } from '../hooks/BolideProvider';
import { goTo, linkTo } from '../shell/route';
import type { Command } from './commands';

/** Characters from which on runs are searched. */
const MIN_LENGTH = 2;
const PAUSE_MS = 200;
const MAX_RUNS = 6;

export function useRunCommands(text: string): readonly Command[] {
  const search = useDebounced(text, PAUSE_MS);
  const isSearched = search.length >= MIN_LENGTH;
  const found = useData().useQuery('ai.runs.list', isSearched ? { search, limit: MAX_RUNS } : undefined);
  const runs = found.state === 'ready' && search === text ? found.value.runs : NONE;
  return useMemo(() => {
    if (text.length < MIN_LENGTH) return [];
    return [
      ...runs.map(({ _id, title, createdAt }) => ({
        id: `run-${_id}`,
        label: title === '' ? 'Untitled run' : title,
        icon: 'runs' as const,
        group: 'Runs',
        detail: formatDateTime(createdAt),
        run: () => goTo(linkTo(['runs', _id])),
      })),
      {
        id: 'search-runs',
        label: `Search runs for “${text}”`,
        icon: 'search',
        group: 'Runs',
        run: () => goTo(linkTo(['runs'], { search: text })),
      },
    ];
  }, [text, runs]);
}

const NONE: readonly never[] = [];
