/**
 * The message of a run that a call has started, within the output of that call, as the AI SDK's subagents have it: each
 * preliminary output replaces the one before. https://ai-sdk.dev/docs/agents/subagents
 */
import type { FamilyEvent } from '../../business/ai/domain/types/AgentEvents';
import { isList, isObject } from '../../business/ai/domain/util/json';
import { applyChunk } from './reduceUIMessage';
import type { UIMessage, UIMessageChunk, UIMessagePart } from './UIMessages';

/** JSON characters of a message within a message. The result is not counted. */
const MAX_LENGTH = 32_768;
/** Characters of a text, an input or an output in it. */
const MAX_VALUE = 4_096;
/** Text is sent once it has grown by so many characters, and by a tenth: all outputs are ten times the last at most. */
const LEAST_GROWTH = 80;

interface Encoder {
  push(event: FamilyEvent): readonly UIMessageChunk[];
}

export class NestedUIMessage {
  private readonly encoder: Encoder;
  private readonly message: UIMessage = { id: '', role: 'assistant', parts: [] };
  /** Characters of text, and those that are not sent yet. */
  private length = 0;
  private unsent = 0;

  constructor(encoder: Encoder) {
    this.encoder = encoder;
  }

  /** @returns whether the message is to be sent */
  push(event: FamilyEvent): boolean {
    let isDue = false;
    for (const chunk of this.encoder.push(event)) {
      // Only for the vendor of the run itself.
      if (chunk.type === 'custom') continue;
      applyChunk(this.message, chunk);
      const growth = chunk.type === 'text-delta' || chunk.type === 'reasoning-delta' ? chunk.delta.length : 0;
      this.length += growth;
      this.unsent += growth;
      isDue ||= growth === 0 && chunk.type !== 'start' && chunk.type !== 'finish-step';
    }
    isDue ||= this.unsent >= Math.max(LEAST_GROWTH, this.length / 10);
    if (isDue) this.unsent = 0;
    return isDue;
  }

  /** The message so far. */
  get current(): UIMessage {
    return shortened(this.message, MAX_LENGTH);
  }

  /** @param result the run's answer, which the model has received */
  complete(result: string): UIMessage {
    const message = this.current;
    const last = message.parts.at(-1);
    const parts = last?.type === 'text' ? message.parts.slice(0, -1) : message.parts;
    return { ...message, parts: [...parts, { type: 'text', text: result, state: 'done' }] };
  }
}

/** The answer of the run whose message the output of a call is. Undefined for any other output. */
export function resultOfNested(output: unknown): string | undefined {
  const last: unknown = isNested(output) ? output.parts.at(-1) : undefined;
  return isObject(last) && last.type === 'text' && typeof last.text === 'string' ? last.text : undefined;
}

function isNested(output: unknown): output is { readonly parts: readonly unknown[] } {
  if (!isObject(output) || output.role !== 'assistant' || !isList(output.parts)) return false;
  return isObject(output.metadata) && output.metadata.executionId === output.id;
}

/** The last parts that fit. */
function shortened(message: UIMessage, max: number): UIMessage {
  const parts: UIMessagePart[] = [];
  let length = 0;
  for (const part of message.parts.toReversed()) {
    const cut = cutPart(part);
    length += JSON.stringify(cut).length;
    if (length > max && parts.length > 0) break;
    parts.unshift(cut);
  }
  const isShortened = parts.length < message.parts.length;
  const metadata = isShortened ? { ...(message.metadata as object | undefined), isShortened } : message.metadata;
  return { ...message, metadata, parts };
}

function cutPart(part: UIMessagePart): UIMessagePart {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return { ...part, text: cutText(part.text) };
    case 'file':
      return part.url.length > MAX_VALUE ? { type: 'text', text: '[file]', state: 'done' } : part;
    default:
      return 'toolCallId' in part ? { ...part, input: cutValue(part.input), ...outputOf(part) } : { ...part };
  }
}

function outputOf({ output }: { readonly output?: unknown }): { readonly output?: unknown } {
  if (output === undefined) return {};
  // Messages within it are shortened already.
  return { output: isNested(output) ? output : cutValue(output) };
}

function cutValue(value: unknown): unknown {
  const text = value === undefined ? '' : JSON.stringify(value);
  return text.length > MAX_VALUE ? cutText(text) : value;
}

function cutText(text: string): string {
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE)}…` : text;
}
