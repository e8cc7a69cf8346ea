/**
 * The vendors' caches of prompts, as far as their usage shows them: which part of a request they have seen at the
 * beginning of an earlier one.
 *
 * Anthropic caches up to the request's marks, and looks for an entry at each mark and at the 20 blocks before it:
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching. OpenAI's models from GPT-5.6 on cache at
 * breakpoints: those of the request and one at its latest eligible message; https://developers.openai.com/api/docs/guides/prompt-caching.
 * The others cache by themselves, older models of OpenAI in steps of 128 tokens.
 */
import { LRUCache } from 'lru-cache';
import { growingCapacity } from '../../business/ai/domain/util/growingCapacity';
import { createHash } from 'node:crypto';
import type { JsonObject, WireName } from '../../business/ai/domain/types/VendorTypes';
import { asArray, asObject, asString, isObject, objectsIn } from '../json';
import type { WireRequest } from '../wires/WireSimulator';
import { hasCacheBreakpoints } from './cacheBreakpoints';
import type { TokenCount } from './ModelTurn';

/** Shorter prefixes are not cached. */
const MIN_TOKENS = 1_024;
const STEP = 128;
const LOOKBACK = 20;
/** Breakpoints that a request writes, and how many of the conversation's are looked for. */
const MAX_WRITES = 4;
const MAX_MATCHED = 80;
const MAX_ENTRIES = 50_000;
const LIFETIMES = { '5m': 300_000, '30m': 1_800_000, '1h': 3_600_000, '12h': 43_200_000 } as const;
type Lifetime = keyof typeof LIFETIMES;

interface Segment {
  readonly text: string;
  readonly mark?: Lifetime | undefined;
  /** Where GPT-5.6 and later look for a breakpoint of their own. */
  readonly isEligible?: boolean;
}

interface Prefix extends Omit<Segment, 'text'> {
  readonly hash: string;
  readonly tokens: number;
}

export class PromptCache {
  /** When each prefix expires, by the hash of all that it consists of. */
  private readonly kept = new LRUCache<string, true>({
    ...growingCapacity(MAX_ENTRIES),
    ttlResolution: 0,
    perf: { now: () => Date.now() },
  });

  /** @param input tokens of the entire request */
  use(request: WireRequest, wire: WireName, input: number): Partial<TokenCount> {
    const prefixes = prefixesOf(request, wire, input);
    if (wire === 'anthropic_messages') return this.useMarks(prefixes);
    if (hasCacheBreakpoints(request)) return this.useBreakpoints(prefixes, asObject(request.body.prompt_cache_options));
    const hit = this.longest(prefixes);
    for (const { hash } of prefixes) this.keep(hash, '5m');
    const stepped = hit - (hit % STEP);
    return { cached: stepped < MIN_TOKENS ? 0 : stepped };
  }

  private useMarks(prefixes: readonly Prefix[]): Partial<TokenCount> {
    const marks = prefixes.flatMap(({ mark }, index) => (mark === undefined ? [] : [index]));
    const candidates = marks.flatMap((mark) => Array.from({ length: LOOKBACK + 1 }, (_, back) => mark - back));
    const hit = this.longest(candidates.flatMap((index) => prefixes[index] ?? []));
    for (const { hash, mark } of prefixes) if (mark !== undefined) this.keep(hash, mark);
    const cached = hit < MIN_TOKENS ? 0 : hit;
    const last = prefixes[marks.at(-1) ?? -1];
    const marked = last?.tokens ?? 0;
    const written = marked < MIN_TOKENS ? 0 : Math.max(0, marked - cached);
    return { cached, written, ...(last?.mark === '1h' ? { writtenForAnHour: written } : {}) };
  }

  private useBreakpoints(prefixes: readonly Prefix[], { mode }: JsonObject): Partial<TokenCount> {
    const explicit = prefixes.filter(({ mark }) => mark !== undefined);
    const implicit = mode === 'explicit' ? [] : prefixes.filter(({ isEligible }) => isEligible === true);
    const looked = [...explicit.slice(-MAX_MATCHED), ...implicit.slice(-LOOKBACK - 1)];
    const hit = this.longest(looked);
    const cached = hit < MIN_TOKENS ? 0 : hit;
    const own = implicit.slice(-1);
    const writes = [...explicit.slice(own.length - MAX_WRITES), ...own].filter(({ tokens }) => tokens >= MIN_TOKENS);
    for (const { hash, mark } of writes) this.keep(hash, mark ?? '30m');
    const written = Math.max(0, ...writes.map(({ tokens }) => tokens - cached));
    return { cached, written };
  }

  private longest(prefixes: readonly Prefix[]): number {
    let longest = 0;
    for (const { tokens, hash } of prefixes) if (tokens > longest && this.kept.has(hash)) longest = tokens;
    return longest;
  }

  private keep(hash: string, lifetime: Lifetime = '5m'): void {
    this.kept.set(hash, true, { ttl: LIFETIMES[lifetime] });
  }
}

/** Requests with different keys share nothing. */
function prefixesOf({ vendor, model, body }: WireRequest, wire: WireName, input: number): readonly Prefix[] {
  const segments = segmentsOf(wire, body);
  const length = segments.reduce((sum, { text }) => sum + text.length, 0);
  let hash = `${vendor} ${model} ${asString(body.prompt_cache_key)}`;
  let characters = 0;
  return segments.map(({ text, ...segment }) => {
    hash = createHash('sha1').update(hash).update(text).digest('base64');
    characters += text.length;
    return { ...segment, hash, tokens: Math.floor((input * characters) / length) };
  });
}

/** What a prompt consists of, in the order in which vendors render it: tools, instructions, messages. */
function segmentsOf(wire: WireName, body: JsonObject): readonly Segment[] {
  const { tools, system, systemInstruction, system_instruction, instructions, messages, input, contents } = body;
  const history = messages ?? input ?? contents;
  const lists = [
    wire === 'anthropic_messages' ? objectsIn(tools).filter((tool) => tool.defer_loading !== true) : tools,
    system ?? systemInstruction ?? system_instruction ?? instructions,
    history,
  ];
  const lifetime = lifetimeOf(asObject(body.prompt_cache_options).ttl) ?? '30m';
  return lists.flatMap((list): readonly Segment[] => {
    if (list === undefined || list === null) return [];
    if (!Array.isArray(list)) return [{ text: JSON.stringify(list), isEligible: list === history }];
    if (wire === 'anthropic_messages') return list.flatMap((element: unknown) => anthropicSegments(element, tools));
    return list.map((element: unknown, index) => ({
      text: JSON.stringify(withoutBreakpoints(element)),
      mark: breakpointOf(element, lifetime),
      isEligible: list === history && isEligible(list, index),
    }));
  });
}

function anthropicSegments(element: unknown, tools: unknown): readonly Segment[] {
  if (!isObject(element) || !Array.isArray(element.content)) return [toSegment(element)];
  return element.content.map((block: unknown) => {
    const segment = toSegment(block, asString(element.role));
    const loaded = namesLoadedBy(block).flatMap((name) => objectsIn(tools).filter((tool) => tool.name === name));
    return loaded.length === 0 ? segment : { ...segment, text: segment.text + JSON.stringify(loaded) };
  });
}

/** The deferred tools that a block of a Messages request makes available where it stands. */
export function namesLoadedBy(block: unknown): readonly string[] {
  if (!isObject(block)) return [];
  if (block.type === 'tool_addition') return [asString(asObject(block.tool).name)];
  if (block.type !== 'tool_result') return [];
  return objectsIn(asArray(block.content)).flatMap(({ type, tool_name }) =>
    type === 'tool_reference' ? [asString(tool_name)] : [],
  );
}

function toSegment(value: unknown, role = ''): Segment {
  if (!isObject(value)) return { text: role + JSON.stringify(value) };
  const { cache_control: mark, ...unmarked } = value;
  const text = role + JSON.stringify(unmarked);
  if (!isObject(mark)) return { text };
  return { text, mark: mark.ttl === '1h' ? '1h' : '5m' };
}

/** A message of the user, the last output of a group, and the last of the developer's messages at the beginning. */
function isEligible(list: readonly unknown[], index: number): boolean {
  const kind = kindOf(list[index]);
  if (kind === 'user') return true;
  if (kind === 'output') return kindOf(list[index + 1]) !== 'output';
  if (kind !== 'developer' || kindOf(list[index + 1]) === 'developer') return false;
  return list.slice(0, index).every((each) => kindOf(each) === 'developer');
}

function kindOf(element: unknown): 'user' | 'output' | 'developer' | undefined {
  const { type, role } = asObject(element);
  if (role === 'tool' || asString(type).endsWith('_output')) return 'output';
  if (role === 'system' || role === 'developer') return type === 'additional_tools' ? undefined : 'developer';
  return role === 'user' ? 'user' : undefined;
}

function partsOf(element: unknown): readonly JsonObject[] {
  const { content, output } = asObject(element);
  return objectsIn(asArray(content ?? output));
}

function breakpointOf(element: unknown, lifetime: Lifetime): Lifetime | undefined {
  const marks = partsOf(element).flatMap(({ prompt_cache_breakpoint: mark }) => (isObject(mark) ? [mark] : []));
  const last = marks.at(-1);
  return last === undefined ? undefined : (lifetimeOf(last.ttl) ?? lifetime);
}

function lifetimeOf(ttl: unknown): Lifetime | undefined {
  return typeof ttl === 'string' && Object.hasOwn(LIFETIMES, ttl) ? (ttl as Lifetime) : undefined;
}

function withoutBreakpoints(element: unknown): unknown {
  if (partsOf(element).length === 0) return element;
  const parts = partsOf(element).map(({ prompt_cache_breakpoint: _, ...part }) => part);
  const { content, ...rest } = asObject(element);
  return content === undefined ? { ...rest, output: parts } : { ...rest, content: parts };
}
