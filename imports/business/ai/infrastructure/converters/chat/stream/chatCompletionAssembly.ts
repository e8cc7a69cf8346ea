/** Assembles the chunks of a stream into the completion that the same request returns without streaming. */
import { newCall, ToolCallFragments } from './ToolCallFragments';
import type { PartialCall } from './ToolCallFragments';

import { isThought } from '../thoughts';
import { isText } from '../vendorFields';
import { REASONING_FIELDS } from '../response/assistantItems';
import { isList, isObject } from '../../../../domain/util/json';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/**
 * Fields that no completion has: the padding of each chunk, and Groq's label for the part of the response that a delta
 * belongs to. `__proto__` is excluded for safety.
 */
const CHUNK_ONLY_FIELDS: ReadonlySet<string> = new Set(['obfuscation', 'channel', '__proto__']);
/**
 * Fields that are the same in every chunk. The first non-empty value counts, because Groq's compound systems use
 * another id for each chunk, and Azure's first chunk is empty.
 */
const FIRST_CHUNK_FIELDS: ReadonlySet<string> = new Set(['id', 'object', 'created', 'model']);
const TEXT_FIELDS: ReadonlySet<string> = new Set(['content', 'refusal', ...REASONING_FIELDS]);
/** Matches the names of other text fields that vendors stream in pieces. */
const OTHER_TEXT_FIELD = /(?:^|_)(?:text|thinking|thought)$/;

export class ChatCompletionAssembly {
  private readonly fields: JsonObject = {};
  private readonly choices = new Map<number, ChoiceAssembly>();

  get id(): unknown {
    return this.fields.id;
  }

  get model(): unknown {
    return this.fields.model;
  }

  /** The choice with the lowest index, which is the response. */
  get firstChoice(): ChoiceAssembly | undefined {
    return this.ordered()[0];
  }

  /** Adds all fields of a chunk except its choices. */
  addChunk(chunk: JsonObject): void {
    for (const key in chunk) {
      const value = chunk[key];
      if (key === 'choices' || CHUNK_ONLY_FIELDS.has(key)) continue;
      if (FIRST_CHUNK_FIELDS.has(key)) {
        if (this.fields[key] === undefined || (!this.fields[key] && value)) this.fields[key] = value;
      } else if (key === 'x_groq' && isObject(value)) {
        this.addGroq(value);
      } else {
        this.fields[key] = merged(this.fields[key], value);
      }
    }
  }

  choiceAt(index: number): ChoiceAssembly {
    let choice = this.choices.get(index);
    if (choice === undefined) this.choices.set(index, (choice = new ChoiceAssembly(index)));
    return choice;
  }

  completion(): JsonObject {
    const { object } = this.fields;
    return {
      ...this.fields,
      ...(object === 'chat.completion.chunk' || object === '' ? { object: 'chat.completion' } : {}),
      choices: this.ordered().map((choice) => choice.choice()),
    };
  }

  private ordered(): ChoiceAssembly[] {
    return [...this.choices.values()].sort((a, b) => a.index - b.index);
  }

  /** Groq reports usage inside `x_groq` in a stream, and next to it otherwise. */
  private addGroq({ usage, usage_breakdown, ...rest }: JsonObject): void {
    this.fields.x_groq = merged(this.fields.x_groq, rest);
    if (isObject(usage) && 'prompt_tokens' in usage) this.fields.usage = usage;
    if (usage_breakdown !== undefined) this.fields.usage_breakdown = usage_breakdown;
  }
}

export class ChoiceAssembly {
  readonly index: number;
  readonly calls = new ToolCallFragments();
  private readonly fields: JsonObject = {};
  private readonly message: JsonObject = {};
  private readonly texts = new Map<string, string[]>();
  private hasDeltas = false;
  /** Whether any chunk contained a delta or a message. */
  hasMessage = false;
  /** The call in the deprecated form; a response has at most one. */
  legacyCall: PartialCall | undefined;

  constructor(index: number) {
    this.index = index;
  }

  get finishReason(): unknown {
    return this.fields.finish_reason;
  }

  /** The tools that the vendor has reported running itself. */
  get executedTools(): readonly unknown[] {
    return isList(this.message.executed_tools) ? this.message.executed_tools : [];
  }

  /** What a chunk adds to the message. Vendors that send no deltas send the message itself. */
  deltaOf({ delta, message }: JsonObject): JsonObject | undefined {
    this.hasDeltas ||= isObject(delta);
    if (isObject(delta)) return delta;
    return !this.hasDeltas && isObject(message) ? message : undefined;
  }

  /** Adds all fields of a chunk's choice except its delta. */
  addFields(choice: JsonObject): void {
    for (const key in choice) {
      if (key === 'delta' || key === 'message' || key === 'index' || key === 'logprobs' || CHUNK_ONLY_FIELDS.has(key))
        continue;
      this.fields[key] = appended(this.fields[key], choice[key]);
    }
    if ('logprobs' in choice) this.addLogprobs(choice.logprobs);
  }

  addDelta(delta: JsonObject): void {
    this.hasMessage = true;
    for (const key in delta) {
      const value = delta[key];
      if (typeof value === 'string' && (TEXT_FIELDS.has(key) || OTHER_TEXT_FIELD.test(key))) this.addText(key, value);
      else if (key === 'content' && isList(value)) this.addParts(value);
      else if (key === 'tool_calls' && isList(value)) this.calls.add(value);
      else if (key === 'function_call' && isObject(value)) this.addLegacyCall(value);
      else if (key === 'audio' && isObject(value))
        this.message.audio = concatenated(this.message.audio, value, ['data', 'transcript']);
      else if (!CHUNK_ONLY_FIELDS.has(key)) this.message[key] = appended(this.message[key], value);
    }
  }

  choice(): JsonObject {
    // Azure omits the role.
    const message: JsonObject = { role: 'assistant', ...this.message };
    for (const [field, deltas] of this.texts) {
      const text = deltas.join('');
      message[field] =
        field === 'content' && isList(message.content) ? joinParts(message.content, [{ type: 'text', text }]) : text;
    }
    const calls = this.calls.toToolCalls();
    if (calls.length > 0) message.tool_calls = calls;
    if (this.legacyCall !== undefined)
      message.function_call = { name: this.legacyCall.name, arguments: this.legacyCall.fragments.join('') };
    return { index: this.index, ...this.fields, message };
  }

  private addText(field: string, text: string): void {
    const deltas = this.texts.get(field);
    if (deltas === undefined) this.texts.set(field, [text]);
    else deltas.push(text);
  }

  /** Mistral's models send reasoning as parts and the text after it as a string. */
  private addParts(parts: readonly unknown[]): void {
    if (parts.length === 0) return;
    const before = this.texts.get('content')?.join('') ?? '';
    this.texts.delete('content');
    this.message.content = joinParts(isList(this.message.content) ? this.message.content : [], [
      { type: 'text', text: before },
      ...parts,
    ]);
  }

  private addLegacyCall({ name, arguments: fragment }: JsonObject): void {
    this.legacyCall ??= newCall('function', undefined);
    if (isText(name)) this.legacyCall.name = name;
    if (typeof fragment === 'string') this.legacyCall.fragments.push(fragment);
  }

  private addLogprobs(value: unknown): void {
    const { logprobs } = this.fields;
    if (!isObject(value)) this.fields.logprobs ??= value;
    else if (!isObject(logprobs)) this.fields.logprobs = { ...value };
    else for (const key of Object.keys(value)) logprobs[key] = appended(logprobs[key], value[key]);
  }
}

/** A later value wins unless it is empty; objects are merged field by field. */
function merged(before: unknown, value: unknown): unknown {
  if (value === null || value === undefined) return before === undefined ? value : before;
  if (value === '' && isText(before)) return before;
  return isObject(before) && isObject(value) ? { ...before, ...value } : value;
}

/** Lists created here, which are extended in place. Copying them for every chunk would take quadratic time. */
const ownedLists = new WeakSet<object>();

/** Like `merged`, but lists are appended; entries of the same type and `index` are merged. */
function appended(before: unknown, value: unknown): unknown {
  if (!isList(before) || !isList(value)) return merged(before, value);
  // The cast is safe: the set contains only arrays created below.
  const list = ownedLists.has(before) ? (before as unknown[]) : [...before];
  ownedLists.add(list);
  for (const entry of value) {
    const at =
      isObject(entry) && typeof entry.index === 'number'
        ? list.findIndex((one) => isObject(one) && one.index === entry.index && isSameKind(one, entry))
        : -1;
    if (at < 0) list.push(entry);
    else list[at] = concatenated(list[at], entry, ['text', 'summary']);
  }
  return list;
}

/** OpenRouter numbers its `reasoning_details` per type. */
function isSameKind(one: JsonObject, other: JsonObject): boolean {
  return one.type === other.type || !isText(one.type) || !isText(other.type);
}

/** Merges an object that is streamed in pieces: the named texts are concatenated, all other fields merged. */
function concatenated(before: unknown, value: unknown, texts: readonly string[]): unknown {
  if (!isObject(before) || !isObject(value)) return merged(before, value);
  const object: JsonObject = { ...before };
  for (const key of Object.keys(value)) {
    const [old, next] = [object[key], value[key]];
    object[key] =
      texts.includes(key) && typeof old === 'string' && typeof next === 'string' ? old + next : merged(old, next);
  }
  return object;
}

/**
 * Appends content parts that arrive in pieces, as a response without streaming contains them: consecutive texts become
 * one text and consecutive thoughts one thought, empty texts are dropped, and all other parts stay separate.
 */
function joinParts(previous: readonly unknown[], arriving: readonly unknown[]): unknown[] {
  const parts = [...previous];
  for (const part of arriving) {
    if (isPlainText(part) && part.text === '') continue;
    const joined = joinedWith(parts.at(-1), part);
    if (joined === undefined) parts.push(part);
    else parts[parts.length - 1] = joined;
  }
  return parts;
}

function joinedWith(last: unknown, part: unknown): JsonObject | undefined {
  if (isPlainText(last) && isPlainText(part)) return { type: 'text', text: last.text + part.text };
  if (isThought(last) && isThought(part))
    return { ...last, ...part, thinking: joinParts(last.thinking, part.thinking) };
  return undefined;
}

function isPlainText(part: unknown): part is { readonly type: 'text'; readonly text: string } {
  return isObject(part) && part.type === 'text' && typeof part.text === 'string' && Object.keys(part).length === 2;
}
