/**
 * Normalizes all input: converts whatever callers write to items, flat tools and checked options, or throws an error
 * that names the invalid value.
 */
import { freezeDeep } from '../../domain/util/freezeDeep';
import { freeze } from './normalizer/fields';
import { adoptNormalItem, copyFields, normalizedItem } from './normalizer/alreadyNormal';
import { normalizeItem } from './normalizer/normalizeItem';
import { normalizeTool } from './normalizer/normalizeTool';
import {
  flag,
  integer,
  isModelName,
  metadata,
  milliseconds,
  modelName,
  name,
  penalty,
  reasoning,
  responseFormat,
  cacheOptions,
  promptCache,
  promptReference,
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
import type { WatchingCallbacks } from './shared/safeCallbacks';
import type { Tool } from '../../domain/entities/Tool';
import { atOnce, inTurns, SLICE } from '../../domain/util/slices';
import type { Slices } from '../../domain/util/slices';
import type { GenerateOptions, NormalizedOptions } from '../../domain/types/LLMTypes';
import type { InputItem } from '../../domain/types/ResponsesAPITypes';

/**
 * Results of earlier calls. They are deeply frozen and therefore still valid, so a conversation that is sent again with
 * every turn is checked once. Sets where a map is not needed: a minor garbage collection frees no value of a `WeakMap`.
 */
const knownTools = new WeakSet<Tool>();
const knownInputs = new WeakSet<readonly InputItem[]>();
const knownToolLists = new WeakSet<readonly Tool[]>();
const knownOptions = new WeakSet<NormalizedOptions>();

/**
 * @param input anything that `LLMInput` describes
 * @returns deeply frozen items; the argument is neither changed nor retained
 * @throws LLMInvalidRequestError with the JSON path of the invalid value
 */
export function normalizeInput(input: unknown): readonly InputItem[] {
  return atOnce(inputItems(input, new PlainReader()));
}

/**
 * Marks an item as normalized without checking it, and freezes it deeply. For items that converters and builders
 * create; callers' items go through `normalizeInput`.
 */
export function adoptItem<T extends InputItem>(item: T): T {
  return freezeDeep(item);
}

/** Marks a conversation of such items as normalized, and freezes it. */
export function adoptInput(items: readonly InputItem[]): readonly InputItem[] {
  knownInputs.add(freeze(items));
  return items;
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
  return atOnce(checkedOptions(options));
}

/** Normalizes options as `normalizeOptions` does, but lets other work run between slices of a long input. */
export function normalizeOptionsInTurns(options: unknown): NormalizedOptions | Promise<NormalizedOptions> {
  return isKnown(options, knownOptions) ? options : inTurns(checkedOptions(options));
}

function* checkedOptions(options: unknown): Slices<NormalizedOptions> {
  if (isKnown(options, knownOptions)) return options;
  const reader = new PlainReader();
  const given = reader.fields(options, 'options');
  for (const key of given.keys()) {
    if (!isOption(key))
      throw invalid(
        `options${formatStep(key)}`,
        `is not an option. Options of a vendor belong in "vendor". Expected one of: ${OPTIONS.join(', ')}`,
      );
  }

  const model = given.get('model');
  if (model === undefined) throw invalid('model', 'is required');
  const tools = toolList(given.get('tools'), reader);
  const normalized: Record<string, unknown> = {
    model: modelName(reader.read(model, 'model'), 'model'),
    input: yield* inputItems(given.get('input'), reader),
  };
  if (tools.length > 0) normalized['tools'] = tools;
  for (const [key, value] of given) {
    const check = CHECKS[key as keyof GenerateOptions];
    const checked = value === undefined || check === undefined ? undefined : check(value, key, reader, tools);
    if (checked !== undefined) normalized[key] = checked;
  }
  // The cast is safe: every field has passed the check of its type.
  const frozen = freeze(normalized) as unknown as NormalizedOptions;
  knownOptions.add(frozen);
  return frozen;
}

/** What Bolide itself sets in the options of a call: input that was adopted, and tools that are normalized. */
type OwnChanges = Pick<
  GenerateOptions,
  | keyof WatchingCallbacks
  | 'signal'
  | 'executionId'
  | 'turn'
  | 'origin'
  | 'promptCache'
  | 'compact'
  | 'compactedBy'
  | 'findableTools'
> & {
  readonly input?: readonly InputItem[];
  readonly tools?: readonly Tool[];
};

/** Changes options in fields that need no check. The result counts as normalized if the given options do. */
export function withOwnOptions<O extends GenerateOptions>(options: O, changes: OwnChanges): O {
  return keepNormalized(options, { ...options, ...changes });
}

/** The options of a route, for its model. They count as normalized if the given ones do. */
export function withModel(options: GenerateOptions, model: string): GenerateOptions {
  const { route: _, ...rest } = options;
  const changed = { ...rest, model };
  return isModelName(model) ? keepNormalized(options, changed) : changed;
}

function keepNormalized<O extends object>(from: GenerateOptions, to: O): O {
  // The cast is safe: whatever was not checked for `from` needs no check.
  if (isKnown(from, knownOptions)) knownOptions.add(freeze(to) as unknown as NormalizedOptions);
  return to;
}

/** @returns undefined for an option that can be left out */
type Check<V> = (value: unknown, path: string, reader: PlainReader, tools: readonly Tool[]) => V | undefined;

function plain<V>(check: (value: Plain, path: string) => V): Check<V> {
  return (value, path, reader) => check(reader.read(value, path), path);
}

/** Checked before all others. */
type FirstOption = 'model' | 'input' | 'tools';
/** Boundary: what a function accepts cannot be checked, and the objects are set by Bolide itself. */
type OwnOption =
  | 'relayTo'
  | 'route'
  | 'routeTargets'
  | 'origin'
  | 'batch'
  | 'backgroundTurn'
  | 'compactedBy'
  | 'hostedMcp'
  | 'findableTools'
  | `on${string}`;

const CHECKS: {
  readonly [K in keyof GenerateOptions]-?: K extends FirstOption
    ? undefined
    : Check<K extends OwnOption ? object : NonNullable<NormalizedOptions[K]>>;
} = {
  model: undefined,
  input: undefined,
  tools: undefined,
  instructions: plain(text),
  prompt: plain(promptReference),
  executionId: plain(text),
  tool_choice: (value, path, reader, tools) => toolChoice(reader.read(value, path), tools, path),
  unsupportedTools: plain(unsupportedTools),
  temperature: plain(temperature),
  top_p: plain(topP),
  top_k: plain(topK),
  seed: plain(integer),
  presence_penalty: plain(penalty),
  frequency_penalty: plain(penalty),
  max_output_tokens: plain(tokenCount),
  response_format: plain(responseFormat),
  parallel_tool_calls: plain(flag),
  previous_response_id: plain(name),
  store: plain(flag),
  background: plain(flag),
  conversation: plain(name),
  reasoning: plain(reasoning),
  stop: (value, path, reader) => stopSequences(reader.read(value, path), path),
  metadata: plain(metadata),
  user: plain(text),
  signal: abortSignal,
  timeout: plain(milliseconds),
  maxRetryTime: plain(milliseconds),
  vendor: plain(vendorFields),
  wire: plain(wireName),
  turn: plain(runTurn),
  providerId: plain(name),
  relay: plain(flag),
  streamArguments: plain(flag),
  relayTo: ownObject,
  route: ownObject,
  routeTargets: ownObject,
  onAttempt: listener,
  onSend: listener,
  onHead: listener,
  onRetry: listener,
  onExchange: listener,
  onBody: listener,
  cache: plain(cacheOptions),
  promptCache: plain(promptCache),
  onCache: listener,
  onAnnotation: listener,
  compact: plain(flag),
  compactedBy: ownObject,
  hostedMcp: ownObject,
  findableTools: ownObject,
  origin: ownObject,
  batch: ownObject,
  backgroundTurn: ownObject,
  onRateLimits: listener,
};
const OPTIONS = Object.keys(CHECKS);

function isOption(key: string): key is keyof GenerateOptions {
  return Object.hasOwn(CHECKS, key);
}

function* inputItems(input: unknown, reader: PlainReader): Slices<readonly InputItem[]> {
  if (isKnown(input, knownInputs)) return input;
  return adoptInput(
    typeof input === 'string' ? normalizeItem(reader.read(input, 'input'), 'input') : yield* listOfItems(input, reader),
  );
}

function* listOfItems(input: unknown, reader: PlainReader): Slices<readonly InputItem[]> {
  if (typeof input !== 'object' || input === null)
    throw invalid('input', `must be a string or an array of messages and items, not ${describe(input)}`);
  const items: InputItem[] = [];
  let index = -1;
  for (const element of reader.elements(input, 'input')) {
    index += 1;
    if (index > 0 && index % SLICE === 0) yield;
    const fields = copyFields(element);
    const normal = fields && adoptNormalItem(fields, reader);
    if (normal !== undefined) items.push(normal);
    else items.push(...otherItems(reader.readElement(element, 'input', index, fields), index));
  }
  return items;
}

function otherItems(source: Plain, index: number): readonly InputItem[] {
  const normal = normalizedItem(source);
  return normal === undefined ? normalizeItem(source, `input[${index}]`) : [normal];
}

const NO_TOOLS: readonly Tool[] = freeze([]);
knownToolLists.add(NO_TOOLS);

function toolList(given: unknown, reader: PlainReader): readonly Tool[] {
  if (given === undefined || given === null) return NO_TOOLS;
  if (isKnown(given, knownToolLists)) return given;
  const tools = reader.elements(given, 'tools').map((tool, index) => oneTool(tool, reader, `tools[${index}]`));
  const names = new Set<string>();
  tools.forEach((tool, index) => {
    if (typeof tool.name !== 'string') return;
    if (names.has(tool.name))
      throw invalid(`tools[${index}].name`, `is "${tool.name}", the name of an earlier tool. Names must be unique`);
    names.add(tool.name);
  });
  knownToolLists.add(freeze(tools));
  return tools;
}

function oneTool(given: unknown, reader: PlainReader, path: string): Tool {
  if (isKnown(given, knownTools)) return given;
  const tool = normalizeTool(given, reader, path);
  knownTools.add(tool);
  return tool;
}

function ownObject(value: unknown, path: string): object {
  if (typeof value === 'object' && value !== null) return value;
  throw invalid(path, `must be an object, not ${describe(value)}`);
}

function listener(value: unknown, path: string): object {
  if (typeof value === 'function') return value;
  throw invalid(path, `must be a function, not ${describe(value)}`);
}

function abortSignal(value: unknown): AbortSignal {
  try {
    if (value instanceof AbortSignal && typeof value.aborted === 'boolean') return value;
  } catch (cause) {
    throw invalid('signal', 'could not be read, and must be an AbortSignal', cause);
  }
  throw invalid('signal', `must be an AbortSignal, not ${describe(value)}`);
}

function isKnown<T extends object>(value: unknown, known: WeakSet<T>): value is T {
  return typeof value === 'object' && value !== null && known.has(value as T);
}
