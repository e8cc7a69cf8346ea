/**
 * Normalizes all input: converts whatever callers write to items, flat tools and checked options, or throws an error
 * that names the invalid value.
 */
import { field, freeze } from './normalizer/fields';
import { normalizeItem } from './normalizer/normalizeItem';
import { normalizeTool } from './normalizer/normalizeTool';
import {
  flag,
  integer,
  metadata,
  milliseconds,
  modelName,
  name,
  penalty,
  reasoning,
  responseFormat,
  cacheOptions,
  runTurn,
  stopSequences,
  temperature,
  text,
  tokenCount,
  topK,
  topP,
  vendorFields,
  unsupportedTools,
  wireName,
} from './normalizer/normalizeOptions';
import { describe, formatStep, PlainReader, invalid } from './normalizer/PlainReader';
import { toolChoice } from './normalizer/normalizeToolChoice';
import type { Plain } from './normalizer/PlainReader';
import type { Tool } from '../../domain/entities/Tool';
import type { GenerateOptions, NormalizedOptions } from '../../domain/types/LLMTypes';
import type { InputItem } from '../../domain/types/ResponsesAPITypes';

/**
 * Results of earlier calls. They are deeply frozen and therefore still valid, so a conversation that is sent again with
 * every turn is checked once.
 */
const knownTools = new WeakMap<object, Tool>();
const knownInputs = new WeakMap<object, readonly InputItem[]>();
/** By first item: the next turn's conversation starts with the previous one's. */
const knownBeginnings = new WeakMap<object, readonly InputItem[]>();
const knownToolLists = new WeakMap<object, readonly Tool[]>();
const knownOptions = new WeakMap<object, NormalizedOptions>();

/**
 * @param input anything that `LLMInput` describes
 * @returns deeply frozen items; the argument is neither changed nor retained
 * @throws LLMInvalidRequestError with the JSON path of the invalid value
 */
export function normalizeInput(input: unknown): readonly InputItem[] {
  return inputItems(input, new PlainReader());
}

/**
 * Marks an item as normalized without checking it, and freezes it deeply. For items that converters and builders
 * create; callers' items go through `normalizeInput`.
 */
export function adoptItem<T extends InputItem>(item: T): T {
  freezeDeep(item);
  return item;
}

/** Marks a conversation of such items as normalized, and thereby every conversation that starts with it. */
export function adoptInput(items: readonly InputItem[]): readonly InputItem[] {
  return remember(freeze(items));
}

function remember(items: readonly InputItem[]): readonly InputItem[] {
  knownInputs.set(items, items);
  if (items[0] !== undefined) knownBeginnings.set(items[0], items);
  return items;
}

function freezeDeep(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const entry of Object.values(value)) freezeDeep(entry);
}

/**
 * @param tools an array of anything that `LooseTool` describes; undefined means no tools
 * @throws LLMInvalidRequestError with the JSON path of the invalid value
 */
export function normalizeTools(tools: unknown): readonly Tool[] {
  return toolList(tools, new PlainReader());
}

/**
 * @param options anything that `GenerateOptions` describes, with a model
 * @throws LLMInvalidRequestError with the JSON path of the invalid value
 */
export function normalizeOptions(options: unknown): NormalizedOptions {
  const known = recall(options, knownOptions);
  if (known !== undefined) return known;
  const reader = new PlainReader();
  const given = reader.fields(options, 'options');
  for (const key of given.keys()) {
    if (!isOption(key))
      throw invalid(
        `options${formatStep(key)}`,
        `is not an option. Options of a vendor belong in "vendor". Expected one of: ${OPTIONS.join(', ')}`,
      );
  }

  const read = <V>(key: keyof GenerateOptions, check: (value: Plain, path: string) => V): V | undefined => {
    const value = given.get(key);
    return value === undefined ? undefined : check(reader.read(value, key), key);
  };
  const model = read('model', modelName);
  if (model === undefined) throw invalid('model', 'is required');
  const tools = toolList(given.get('tools'), reader);

  const normalized = freeze<NormalizedOptions>({
    model,
    input: inputItems(given.get('input'), reader),
    ...field('instructions', read('instructions', text)),
    ...(tools.length === 0 ? {} : { tools }),
    ...field(
      'tool_choice',
      read('tool_choice', (value, path) => toolChoice(value, tools, path)),
    ),
    ...field('unsupportedTools', read('unsupportedTools', unsupportedTools)),
    ...field('temperature', read('temperature', temperature)),
    ...field('top_p', read('top_p', topP)),
    ...field('top_k', read('top_k', topK)),
    ...field('seed', read('seed', integer)),
    ...field('presence_penalty', read('presence_penalty', penalty)),
    ...field('frequency_penalty', read('frequency_penalty', penalty)),
    ...field('max_output_tokens', read('max_output_tokens', tokenCount)),
    ...field('response_format', read('response_format', responseFormat)),
    ...field('parallel_tool_calls', read('parallel_tool_calls', flag)),
    ...field('previous_response_id', read('previous_response_id', name)),
    ...field('store', read('store', flag)),
    ...field('reasoning', read('reasoning', reasoning)),
    ...field('stop', read('stop', stopSequences)),
    ...field('metadata', read('metadata', metadata)),
    ...field('user', read('user', text)),
    ...field('signal', abortSignal(given.get('signal'))),
    ...field('timeout', read('timeout', milliseconds)),
    ...field('maxRetryTime', read('maxRetryTime', milliseconds)),
    ...field('vendor', read('vendor', vendorFields)),
    ...field('wire', read('wire', wireName)),
    ...field('turn', read('turn', runTurn)),
    ...field('relay', read('relay', flag)),
    ...field('route', ownObject(given.get('route'), 'route') as GenerateOptions['route']),
    ...field('routeTargets', ownObject(given.get('routeTargets'), 'routeTargets') as GenerateOptions['routeTargets']),
    ...field('onAttempt', listener(given.get('onAttempt'), 'onAttempt') as GenerateOptions['onAttempt']),
    ...field('onHead', listener(given.get('onHead'), 'onHead') as GenerateOptions['onHead']),
    ...field('onRetry', listener(given.get('onRetry'), 'onRetry') as GenerateOptions['onRetry']),
    ...field('onExchange', listener(given.get('onExchange'), 'onExchange') as GenerateOptions['onExchange']),
    ...field('cache', read('cache', cacheOptions)),
    ...field('onCache', listener(given.get('onCache'), 'onCache') as GenerateOptions['onCache']),
    ...field('onAnnotation', listener(given.get('onAnnotation'), 'onAnnotation') as GenerateOptions['onAnnotation']),
    ...field('origin', ownObject(given.get('origin'), 'origin') as GenerateOptions['origin']),
    ...field('onRateLimits', listener(given.get('onRateLimits'), 'onRateLimits') as GenerateOptions['onRateLimits']),
  });
  knownOptions.set(normalized, normalized);
  return normalized;
}

const OPTION_NAMES = {
  model: true,
  input: true,
  instructions: true,
  tools: true,
  tool_choice: true,
  unsupportedTools: true,
  temperature: true,
  top_p: true,
  top_k: true,
  seed: true,
  presence_penalty: true,
  frequency_penalty: true,
  max_output_tokens: true,
  response_format: true,
  parallel_tool_calls: true,
  previous_response_id: true,
  store: true,
  reasoning: true,
  stop: true,
  metadata: true,
  user: true,
  signal: true,
  timeout: true,
  maxRetryTime: true,
  vendor: true,
  wire: true,
  turn: true,
  relay: true,
  route: true,
  routeTargets: true,
  onAttempt: true,
  onHead: true,
  onRetry: true,
  onExchange: true,
  cache: true,
  onCache: true,
  onAnnotation: true,
  origin: true,
  onRateLimits: true,
} as const satisfies Record<keyof GenerateOptions, true>;
const OPTIONS = Object.keys(OPTION_NAMES);

function isOption(key: string): key is keyof GenerateOptions {
  return Object.hasOwn(OPTION_NAMES, key);
}

function inputItems(input: unknown, reader: PlainReader): readonly InputItem[] {
  const known = recall(input, knownInputs);
  if (known !== undefined) return known;
  return remember(
    freeze(
      typeof input === 'string' ? normalizeItem(reader.read(input, 'input'), 'input') : listOfItems(input, reader),
    ),
  );
}

function listOfItems(input: unknown, reader: PlainReader): readonly InputItem[] {
  if (typeof input !== 'object' || input === null)
    throw invalid('input', `must be a string or an array of messages and items, not ${describe(input)}`);
  const elements = reader.elements(input, 'input');
  const known = recall(elements[0], knownBeginnings) ?? [];
  return elements.flatMap((element, index) => {
    const item = known[index];
    if (item !== undefined && item === element) return item;
    const path = `input[${index}]`;
    return normalizeItem(reader.read(element, path), path);
  });
}

function toolList(given: unknown, reader: PlainReader): readonly Tool[] {
  const known = recall(given, knownToolLists);
  if (known !== undefined) return known;
  const tools =
    given === undefined || given === null
      ? []
      : reader.elements(given, 'tools').map((tool, index) => oneTool(tool, reader, `tools[${index}]`));
  const names = new Set<string>();
  tools.forEach((tool, index) => {
    if (typeof tool.name !== 'string') return;
    if (names.has(tool.name))
      throw invalid(`tools[${index}].name`, `is "${tool.name}", the name of an earlier tool. Names must be unique`);
    names.add(tool.name);
  });
  knownToolLists.set(freeze(tools), tools);
  return tools;
}

function oneTool(given: unknown, reader: PlainReader, path: string): Tool {
  const known = recall(given, knownTools);
  if (known !== undefined) return known;
  const tool = normalizeTool(given, reader, path);
  knownTools.set(tool, tool);
  return tool;
}

/** Boundary: set by Bolide itself, and never sent to a vendor. */
function ownObject(value: unknown, path: string): unknown {
  if (value === undefined || (typeof value === 'object' && value !== null)) return value;
  throw invalid(path, `must be an object, not ${describe(value)}`);
}

/** Boundary: what a function accepts cannot be checked. */
function listener(value: unknown, path: string): unknown {
  if (value === undefined || typeof value === 'function') return value;
  throw invalid(path, `must be a function, not ${describe(value)}`);
}

function abortSignal(value: unknown): AbortSignal | undefined {
  if (value === undefined) return undefined;
  try {
    if (value instanceof AbortSignal && typeof value.aborted === 'boolean') return value;
  } catch (cause) {
    throw invalid('signal', 'could not be read, and must be an AbortSignal', cause);
  }
  throw invalid('signal', `must be an AbortSignal, not ${describe(value)}`);
}

function recall<T>(value: unknown, known: WeakMap<object, T>): T | undefined {
  return typeof value === 'object' && value !== null ? known.get(value) : undefined;
}
