/** What searches among a run's tools have found, as the transcript records it. */
import { isObject, readJson } from '../util/json';
import type { FunctionCallOutputItem } from '../types/ResponsesAPITypes';

/** Returns the names of tools in the result of a search. An error has none. */
export function toolNamesIn({ output }: Pick<FunctionCallOutputItem, 'output'>): readonly string[] {
  if (typeof output !== 'string') return [];
  const result = readJson(output);
  if (!isObject(result) || !Array.isArray(result['tools'])) return [];
  return result['tools'].flatMap((tool: unknown) =>
    isObject(tool) && typeof tool['name'] === 'string' ? [tool['name']] : [],
  );
}
