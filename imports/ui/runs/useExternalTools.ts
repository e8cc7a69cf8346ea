/** The names of the tools whose results another service supplies. */
import { useMemo } from 'react';
import { useData } from '../hooks/BolideProvider';

export function useExternalTools(): ReadonlySet<string> {
  const tools = useData().useQuery('ai.tools.list', {});
  const list = tools.state === 'ready' ? tools.value : undefined;
  return useMemo(() => new Set((list ?? []).filter((tool) => tool.external).map((tool) => tool.name)), [list]);
}
