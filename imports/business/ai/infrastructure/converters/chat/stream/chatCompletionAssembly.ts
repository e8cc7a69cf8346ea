/** Chunks of one answer, put together as the completion that the same answer is without streaming. */
import { newCall, ToolCallFragments } from './ToolCallFragments';
import type { PartialCall } from './ToolCallFragments';
import { joinParts } from '../../../streaming/joinParts';
import { isText } from '../chatJson';
import { REASONING_FIELDS } from '../response/assistantItems';
import { isList, isObject } from '../../../../domain/json';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/**
 * Each chunk's own padding, and Groq's label of the part of the answer that a delta belongs to: no completion has
 * them. The last is no field.
 */
const CHUNK_ONLY_FIELDS: ReadonlySet<string> = new Set(['obfuscation', 'channel', '__proto__']);
/**
 * The same in every chunk; Groq's compound systems number each chunk, and Azure begins with an empty one, so the
 * first that says something counts.
 */
const FIRST_CHUNK_FIELDS: ReadonlySet<string> = new Set(['id', 'object', 'created', 'model']);
const TEXT_FIELDS: ReadonlySet<string> = new Set(['content', 'refusal', ...REASONING_FIELDS]);
/** Names of texts that hosts have beside them, in pieces, too. */
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

  /** The choice that is the answer: the lowest one. */
  get firstChoice(): ChoiceAssembly | undefined {
    return this.ordered()[0];
  }

  /** Everything of a chunk but its choices. */
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

  /** Groq counts inside `x_groq` in a stream, and beside it elsewhere. */
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
  /** Whether any chunk had room for the message. */
  hasMessage = false;
  /** The one call of an answer from before tools. */
  legacyCall: PartialCall | undefined;

  constructor(index: number) {
    this.index = index;
  }

  get finishReason(): unknown {
    return this.fields.finish_reason;
  }

  /** What the host ran by itself, as far as it told. */
  get executedTools(): readonly unknown[] {
    return isList(this.message.executed_tools) ? this.message.executed_tools : [];
  }

  /** What a chunk adds. Hosts that write no deltas write the message itself. */
  deltaOf({ delta, message }: JsonObject): JsonObject | undefined {
    this.hasDeltas ||= isObject(delta);
    if (isObject(delta)) return delta;
    return !this.hasDeltas && isObject(message) ? message : undefined;
  }

  /** Everything of a chunk's choice but what it adds to the message. */
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
    // Azure has left it out.
    const message: JsonObject = { role: 'assistant', ...this.message };
    for (const [field, pieces] of this.texts) {
      const text = pieces.join('');
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

  /** Mistral's models think in parts and answer in a string. */
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

/** A later word wins, but nothing wins over something; objects are filled up field by field. */
function merged(before: unknown, value: unknown): unknown {
  if (value === null || value === undefined) return before === undefined ? value : before;
  if (value === '' && isText(before)) return before;
  return isObject(before) && isObject(value) ? { ...before, ...value } : value;
}

/**
 * Lists that were made here and may grow in place: a copy for every chunk would cost the square of the answer's
 * length.
 */
const ownedLists = new WeakSet<object>();

/** The same, and lists grow; entries of one kind are filled up under their number. */
function appended(before: unknown, value: unknown): unknown {
  if (!isList(before) || !isList(value)) return merged(before, value);
  // The set holds only arrays made below.
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

/** OpenRouter numbers what it tells of reasoning by kind. */
function isSameKind(one: JsonObject, other: JsonObject): boolean {
  return one.type === other.type || !isText(one.type) || !isText(other.type);
}

/** An object that comes in pieces: the named texts are joined, everything else is filled up. */
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
