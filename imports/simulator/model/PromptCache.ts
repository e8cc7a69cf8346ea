/**
 * The vendors' caches of prompts, as far as their usage shows them: which part of a request they have seen at the
 * beginning of an earlier one.
 *
 * Anthropic caches up to the request's marks, and looks for an entry at each mark and at the 20 blocks before it:
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching. The others cache by themselves, OpenAI in steps
 * of 128 tokens: https://platform.openai.com/docs/guides/prompt-caching
 */
import { LRUCache } from 'lru-cache';
import { createHash } from 'node:crypto';
import type { JsonObject, WireName } from '../../business/ai/domain/types/VendorTypes';
import { asString, isObject } from '../json';
import type { WireRequest } from '../wires/WireSimulator';
import type { TokenCount } from './ModelTurn';

/** Shorter prefixes are not cached. */
const MIN_TOKENS = 1_024;
const STEP = 128;
const LOOKBACK = 20;
const MAX_ENTRIES = 50_000;
const LIFETIMES = { '5m': 300_000, '1h': 3_600_000 } as const;

interface Segment {
  readonly text: string;
  readonly mark?: keyof typeof LIFETIMES;
}

export class PromptCache {
  /** When each prefix expires, by the hash of all that it consists of. */
  private readonly kept = new LRUCache<string, true>({
    max: MAX_ENTRIES,
    ttlResolution: 0,
    perf: { now: () => Date.now() },
  });

  /** @param input tokens of the entire request */
  use({ vendor, model, body }: WireRequest, wire: WireName, input: number): Partial<TokenCount> {
    const segments = segmentsOf(wire, body);
    const length = segments.reduce((sum, { text }) => sum + text.length, 0);
    let hash = `${vendor} ${model}`;
    let characters = 0;
    const prefixes = segments.map(({ text, mark }) => {
      hash = createHash('sha1').update(hash).update(text).digest('base64');
      characters += text.length;
      return { hash, mark, tokens: Math.floor((input * characters) / length) };
    });
    const byMarks = wire === 'anthropic_messages';
    const marks = prefixes.flatMap(({ mark }, index) => (mark === undefined ? [] : [index]));
    const candidates = byMarks
      ? marks.flatMap((mark) => Array.from({ length: LOOKBACK + 1 }, (_, back) => mark - back))
      : prefixes.keys();
    let hit = 0;
    for (const index of candidates) {
      const prefix = prefixes[index];
      if (prefix !== undefined && prefix.tokens > hit && this.has(prefix.hash)) hit = prefix.tokens;
    }
    for (const { hash: key, mark = '5m' } of byMarks ? marks.flatMap((index) => prefixes[index] ?? []) : prefixes)
      this.keep(key, LIFETIMES[mark]);
    if (!byMarks) {
      const stepped = hit - (hit % STEP);
      return { cached: stepped < MIN_TOKENS ? 0 : stepped };
    }
    const cached = hit < MIN_TOKENS ? 0 : hit;
    const marked = prefixes[marks.at(-1) ?? -1]?.tokens ?? 0;
    const written = marked < MIN_TOKENS ? 0 : Math.max(0, marked - cached);
    return { cached, written, ...(prefixes[marks.at(-1) ?? -1]?.mark === '1h' ? { writtenForAnHour: written } : {}) };
  }

  private has(hash: string): boolean {
    return this.kept.has(hash);
  }

  private keep(hash: string, lifetime: number): void {
    this.kept.set(hash, true, { ttl: lifetime });
  }
}

/** What a prompt consists of, in the order in which vendors render it: tools, instructions, messages. */
function segmentsOf(wire: WireName, body: JsonObject): readonly Segment[] {
  const { tools, system, systemInstruction, system_instruction, instructions, messages, input, contents } = body;
  const lists = [
    tools,
    system ?? systemInstruction ?? system_instruction ?? instructions,
    messages ?? input ?? contents,
  ];
  return lists.flatMap((list): readonly Segment[] => {
    if (list === undefined || list === null) return [];
    if (!Array.isArray(list)) return [{ text: JSON.stringify(list) }];
    return list.flatMap((element: unknown) => {
      if (wire !== 'anthropic_messages' || !isObject(element) || !Array.isArray(element.content))
        return toSegment(element);
      return element.content.map((block: unknown) => toSegment(block, asString(element.role)));
    });
  });
}

function toSegment(value: unknown, role = ''): Segment {
  if (!isObject(value)) return { text: role + JSON.stringify(value) };
  const { cache_control: mark, ...unmarked } = value;
  const text = role + JSON.stringify(unmarked);
  if (!isObject(mark)) return { text };
  return { text, mark: mark.ttl === '1h' ? '1h' : '5m' };
}
