/** The message that a stream of the Messages API writes bit by bit, put together as it would have come in one piece. */
import { LLMStreamError } from '../../../../domain/errors/LLMErrors';
import { isObject } from '../../../../domain/json';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/** A block while its deltas come. Texts are collected and joined once. */
export interface OpenBlock {
  readonly block: JsonObject;
  /** Where the block's item stands in the output; the decoder sets it. */
  outputIndex: number;
  /** By the block's field. */
  readonly texts: Map<string, string[]>;
  input: string[] | undefined;
}

export class AnthropicMessageAssembly {
  readonly message: JsonObject;
  readonly content: JsonObject[] = [];
  /** Inputs that were cut off, as text, by their block. */
  readonly brokenInputs = new Map<JsonObject, string>();
  private readonly open = new Map<unknown, OpenBlock>();

  constructor(message: JsonObject) {
    this.message = { ...message, content: this.content };
  }

  /** @throws LLMStreamError for a second block under the index of one that is still open */
  startBlock(index: unknown, block: JsonObject): OpenBlock {
    if (this.open.has(index)) throw new LLMStreamError(`The stream began content block ${String(index)} twice.`);
    const copy = { ...block };
    if (copy.type === 'text') copy.text ??= '';
    const open: OpenBlock = { block: copy, outputIndex: 0, texts: new Map(), input: undefined };
    this.content.push(copy);
    this.open.set(index, open);
    return open;
  }

  /** @throws LLMStreamError for a block that is not open */
  requireOpen(index: unknown): OpenBlock {
    const open = this.open.get(index);
    if (open === undefined)
      throw new LLMStreamError(`The stream goes on with content block ${String(index)}, which is not open.`);
    return open;
  }

  /** The finished block. @throws LLMStreamError for a block that is not open */
  stopBlock(index: unknown): OpenBlock {
    const open = this.requireOpen(index);
    this.open.delete(index);
    for (const [field, pieces] of open.texts) {
      const before = open.block[field];
      open.block[field] = (typeof before === 'string' ? before : '') + pieces.join('');
    }
    if (open.input !== undefined) this.finishInput(open.block, open.input.join(''));
    return open;
  }

  /** The indexes of blocks that never ended. */
  get unfinished(): string {
    return [...this.open.keys()].map(String).join(', ');
  }

  /** `max_tokens` may cut an input anywhere; what the model wrote is kept as it is then. */
  private finishInput(block: JsonObject, json: string): void {
    if (json.trim() === '') {
      block.input ??= {};
      return;
    }
    try {
      block.input = JSON.parse(json);
    } catch {
      if (block.type === 'tool_use') this.brokenInputs.set(block, json);
      else block.input = json;
    }
  }

  /**
   * https://platform.claude.com/docs/en/build-with-claude/streaming: counts are totals, and what is null or left
   * out says nothing new.
   */
  update({ delta, usage, type: _, ...others }: JsonObject): void {
    assignDefined(this.message, others);
    if (isObject(delta)) assignDefined(this.message, delta);
    if (!isObject(usage)) return;
    const previous = this.message.usage;
    const total = isObject(previous) ? { ...previous } : {};
    assignDefined(total, usage);
    this.message.usage = total;
  }
}

function assignDefined(target: JsonObject, source: JsonObject): void {
  for (const [key, value] of Object.entries(source)) {
    if (value !== null || target[key] === undefined) target[key] = value;
  }
}

/** Adds a piece of text to a field of the block. */
export function addText(open: OpenBlock, field: string, piece: string): void {
  const pieces = open.texts.get(field);
  if (pieces === undefined) open.texts.set(field, [piece]);
  else pieces.push(piece);
}

/** Texts of a newer kind of delta grow, everything else is replaced; a compaction comes in one piece. */
export function addUnknownDelta(open: OpenBlock, { type: _, ...fields }: JsonObject): void {
  for (const [field, value] of Object.entries(fields)) {
    if (typeof value === 'string' && typeof open.block[field] === 'string') addText(open, field, value);
    else open.block[field] = value;
  }
}
