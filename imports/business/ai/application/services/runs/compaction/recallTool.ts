/** The tool with which a model reads what compaction has left out of its history. The transcript has all of it. */
import type { FunctionTool } from '../../../../domain/entities/Tool';
import { ToolError } from '../../../../domain/errors/LLMErrors';
import { fieldsOf } from '../../../../domain/util/json';
import type { Item } from '../../../../domain/types/ResponsesAPITypes';
import type { IToolExecutor } from '../../../../domain/interfaces/IToolExecutor';
import { resolveTools } from '../../tools/ToolSet';
import type { ToolSet } from '../../tools/ToolSet';
import { resultText } from './compactedHistory';
import { itemText } from './summarize';

const NAMES = ['recall', 'recall_history'] as const;
/** Characters of one page, unless the window is small. */
const PAGE = 8_000;
const EXCERPT = 400;
const MAX_FOUND = 8;

const DEFINITIONS = NAMES.map((name): FunctionTool => ({
  type: 'function',
  name,
  description:
    'Reads the earlier part of this conversation, which was shortened to save space. Give "call_id" to read the ' +
    'result of that tool call, "item" to read the entry with that number, or "query" to find entries that contain ' +
    'the words.',
  parameters: {
    type: 'object',
    properties: {
      call_id: { type: 'string', description: 'The id of a tool call whose result was left out.' },
      item: { type: 'integer', minimum: 0, description: 'The number of an entry, as a query has returned it.' },
      query: { type: 'string', description: 'Words to look for.' },
      offset: { type: 'integer', minimum: 0, description: 'The first character to read. Default 0.' },
    },
    additionalProperties: false,
  },
  // It only reads, so that a call which a crash interrupted is repeated.
  idempotent: true,
}));

/** @returns the first name that no tool has, neither of the run nor of the program */
export function recallName(tools: ToolSet, executor: Pick<IToolExecutor, 'hasToolFunction'> | undefined): string {
  const isFree = (name: string): boolean => tools.get(name) === undefined && executor?.hasToolFunction(name) !== true;
  return NAMES.find(isFree) ?? NAMES[NAMES.length - 1] ?? 'recall_history';
}

/** @param transcript of the run, which grows */
export function withRecall(
  tools: ToolSet,
  name: string,
  transcript: () => readonly Item[],
  pageCharacters = PAGE,
): ToolSet {
  const definition = DEFINITIONS.find((each) => each.name === name);
  const recall = definition === undefined ? undefined : resolveTools([definition], NO_TOOLS).get(name);
  if (recall === undefined || tools.get(name) !== undefined) return tools;
  const execute = (args: unknown): unknown => read(transcript(), fieldsOf(args), name, Math.min(PAGE, pageCharacters));
  return tools.with({ ...recall, execute });
}

const NO_TOOLS: IToolExecutor = {
  execute: () => undefined,
  hasToolFunction: () => false,
  getToolDefinition: () => undefined,
};

/** @throws ToolError */
function read(
  transcript: readonly Item[],
  { call_id, item, query, offset }: Readonly<Record<string, unknown>>,
  name: string,
  page: number,
): unknown {
  const from = typeof offset === 'number' ? offset : 0;
  if (typeof call_id === 'string') {
    const output = transcript.findLast(
      (each) => each.type === 'function_call_output' && each.call_id === call_id && each.status !== 'in_progress',
    );
    if (output?.type !== 'function_call_output')
      throw new ToolError('threw', `No call "${call_id}" has a result. Give "query" to find entries by their words.`);
    return pageOf(resultText(output), from, page);
  }
  if (typeof item === 'number') {
    const found = transcript[item];
    const text = found === undefined ? undefined : itemText(found);
    if (text === undefined)
      throw new ToolError(
        'threw',
        `There is no entry ${item}. Entries have the numbers 0 to ${transcript.length - 1}.`,
      );
    return pageOf(text, from, page);
  }
  if (typeof query === 'string' && query.trim() !== '') return find(transcript, query, name, page);
  throw new ToolError('invalid-arguments', 'Give one of "call_id", "item" and "query".');
}

function pageOf(text: string, from: number, page: number): unknown {
  const end = Math.min(text.length, from + page);
  const content = text.slice(from, end).toWellFormed();
  return end === text.length ? { content } : { content, next_offset: end, characters: text.length };
}

/** The entries with most of the words, the earliest first among equals. */
function find(transcript: readonly Item[], query: string, name: string, page: number): unknown {
  const words = [...new Set(query.toLowerCase().split(/[^\p{L}\p{N}_-]+/u))].filter((word) => word !== '');
  const own = new Set<string>();
  const found: { readonly item: number; readonly count: number; readonly excerpt: string }[] = [];
  for (const [index, entry] of transcript.entries()) {
    if (entry.type === 'function_call' && entry.name === name) own.add(entry.call_id);
    if ('call_id' in entry && typeof entry.call_id === 'string' && own.has(entry.call_id)) continue;
    const text = itemText(entry);
    if (text === undefined) continue;
    const lower = text.toLowerCase();
    const places = words.map((word) => lower.indexOf(word)).filter((place) => place >= 0);
    if (places.length === 0) continue;
    const start = Math.max(0, Math.min(...places) - EXCERPT / 4);
    found.push({ item: index, count: places.length, excerpt: text.slice(start, start + EXCERPT).toWellFormed() });
  }
  const best = found.toSorted((left, right) => right.count - left.count || left.item - right.item);
  const shown = best.slice(0, Math.max(1, Math.min(MAX_FOUND, Math.floor(page / EXCERPT))));
  return { found: shown.map(({ item, excerpt }) => ({ item, excerpt })), entries: found.length };
}
