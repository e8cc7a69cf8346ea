/** Assembles the message that a stream of the Messages API sends in deltas, as it would be without streaming. */
import { LLMStreamError } from '../../../../domain/errors/LLMErrors';
import { isObject } from '../../../../domain/util/json';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/** A block whose deltas are still arriving. Texts are collected and joined once. */
export interface OpenBlock {
  readonly block: JsonObject;
  /** The output index of the block's item, set by the decoder. */
  outputIndex: number;
  /** Text pieces by field of the block. */
  readonly texts: Map<string, string[]>;
  input: string[] | undefined;
}

export class AnthropicMessageAssembly {
  readonly message: JsonObject;
  readonly content: JsonObject[] = [];
  /** Tool inputs whose text counts, by block: truncated ones, and those that were streamed as text. */
  readonly inputTexts = new Map<JsonObject, string>();
  private readonly open = new Map<unknown, OpenBlock>();

  constructor(message: JsonObject) {
    this.message = { ...message, content: this.content };
  }

  /** @throws LLMStreamError if a block with this index is already open */
  startBlock(index: unknown, block: JsonObject): OpenBlock {
    if (this.open.has(index)) throw new LLMStreamError(`The stream started content block ${String(index)} twice.`);
    const copy = { ...block };
    if (copy.type === 'text') copy.text ??= '';
    const open: OpenBlock = { block: copy, outputIndex: 0, texts: new Map(), input: undefined };
    this.content.push(copy);
    this.open.set(index, open);
    return open;
  }

  /** @throws LLMStreamError if no block with this index is open */
  requireOpen(index: unknown): OpenBlock {
    const open = this.open.get(index);
    if (open === undefined)
      throw new LLMStreamError(`The stream continued content block ${String(index)}, which is not open.`);
    return open;
  }

  /** Returns the finished block. @throws LLMStreamError if no block with this index is open */
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

  /** The indexes of the blocks that have not ended, joined by commas. */
  get unfinished(): string {
    return [...this.open.keys()].map(String).join(', ');
  }

  /** `max_tokens` may truncate an input anywhere. Its text is then preserved as is. */
  private finishInput(block: JsonObject, json: string): void {
    if (json.trim() === '') {
      block.input ??= {};
      return;
    }
    try {
      block.input = JSON.parse(json);
    } catch {
      if (block.type === 'tool_use') this.inputTexts.set(block, json);
      else block.input = json;
    }
  }

  /**
   * Applies a `message_delta`. Token counts are cumulative; null and missing fields leave earlier values unchanged.
   * https://platform.claude.com/docs/en/build-with-claude/streaming
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

/** Appends a piece of text to a field of the block. */
export function addText(open: OpenBlock, field: string, piece: string): void {
  const pieces = open.texts.get(field);
  if (pieces === undefined) open.texts.set(field, [piece]);
  else pieces.push(piece);
}

/** In deltas of unknown types, text is appended and everything else replaced. A compaction arrives in one piece. */
export function addUnknownDelta(open: OpenBlock, { type: _, ...fields }: JsonObject): void {
  for (const [field, value] of Object.entries(fields)) {
    if (typeof value === 'string' && typeof open.block[field] === 'string') addText(open, field, value);
    else open.block[field] = value;
  }
}
