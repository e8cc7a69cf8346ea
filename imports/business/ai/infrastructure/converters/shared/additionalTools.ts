/**
 * Tools that come with the input, for APIs that take tools in one list only: they join the others. Codex sends all of
 * its tools so to the latest models of OpenAI. https://platform.openai.com/docs/api-reference/responses/create
 */
import type { Tool } from '../../../domain/entities/Tool';
import { fieldsOf, isList } from '../../../domain/util/json';
import type { NormalizedOptions } from '../../../domain/types/LLMTypes';
import { hasItem } from './hasItem';
import type { RewrittenTools } from './RewrittenTools';

/** @returns undefined if no tools come with the input */
export function mergeAdditionalTools(options: NormalizedOptions): RewrittenTools | undefined {
  const { input, tools = [] } = options;
  if (!hasItem(input, ADDITIONAL)) return undefined;
  const additional = input.flatMap((item) => {
    const { type, tools: list } = fieldsOf(item);
    return type === ADDITIONAL && isList(list) ? list.map(toTool) : [];
  });
  if (additional.length === 0) return undefined;
  // A tool that comes twice is the later one.
  const byName = new Map([...tools, ...additional].map((tool) => [JSON.stringify([tool.type, tool.name]), tool]));
  return {
    options: { ...options, input: input.filter(({ type }) => type !== ADDITIONAL), tools: [...byName.values()] },
    restoreResponse: (response) => response,
    restoreEvent: (event) => [event],
  };
}

/** The normalizer has checked them. A field that is null counts as absent. */
function toTool(tool: unknown): Tool {
  const fields = Object.entries(fieldsOf(tool)).filter(([, value]) => value !== null);
  // The cast is safe: tools of the input have the form of the list's.
  return Object.fromEntries(fields) as unknown as Tool;
}

const ADDITIONAL: string = 'additional_tools';
