/**
 * Relays a stream whose client speaks the provider's wire: forwards messages unchanged, including unknown fields. If a
 * fallback responds over another wire, its stream is encoded as usual.
 */
import type { LLMError } from '../../../business/ai/domain/errors/LLMErrors';
import { isObject } from '../../../business/ai/domain/util/json';
import type { MessageRun } from '../../../business/ai/domain/types/RelayTarget';
import type { ResponseStreamEvent } from '../../../business/ai/domain/types/StreamEvents';
import { NO_FRAMES } from '../../../business/ai/infrastructure/converters/stream/StreamEncoder';
import type { StreamEncoder } from '../../../business/ai/infrastructure/converters/stream/StreamEncoder';
import type { PassingEncoder } from '../../http/ByteRelay';
import type { StatelessWire } from './GatewayApi';

type WireMessage = Extract<ResponseStreamEvent, { readonly type: 'wire.message' }>;

export interface RelayOptions {
  readonly wire: StatelessWire;
  /** Encodes streams of other wires, and errors. */
  readonly encoder: StreamEncoder;
  /** The client of chat completions did not request token counts, which are always requested from the vendor. */
  readonly hidesUsage: boolean;
}

export class RelayEncoder implements StreamEncoder, PassingEncoder {
  passes = false;
  private readonly options: RelayOptions;
  private isRelaying = false;
  private hasRole = false;
  private dropsNullUsage = false;

  constructor(options: RelayOptions) {
    this.options = options;
  }

  push(event: ResponseStreamEvent): readonly string[] {
    if (event.type === 'wire.message' && event.wire === this.options.wire) {
      this.isRelaying = true;
      this.passes = false;
      const complete = this.options.wire === 'chat_completions' ? this.withRole(event.data) : event.data;
      const data = this.options.hidesUsage ? withoutUsage(complete) : complete;
      if (data === undefined) return NO_FRAMES;
      this.passes = complete === event.data;
      this.dropsNullUsage = data !== complete;
      return [frameOf(event, data)];
    }
    return this.isRelaying ? NO_FRAMES : this.options.encoder.push(event);
  }

  pass({ bytes }: MessageRun): Uint8Array {
    if (!this.dropsNullUsage) return bytes;
    return Buffer.from(Buffer.from(bytes).toString('latin1').replaceAll(NULL_USAGE, ''), 'latin1');
  }

  end(): readonly string[] {
    return this.isRelaying ? NO_FRAMES : this.options.encoder.end();
  }

  /**
   * Azure may omit the role in its first delta (azure-chat-stream-text-a), without which OpenAI's SDK rejects the
   * stream.
   */
  private withRole(data: string): string {
    if (this.hasRole || data === '[DONE]') return data;
    const chunk: unknown = JSON.parse(data);
    const choices = isObject(chunk) && Array.isArray(chunk.choices) ? chunk.choices.filter(isObject) : [];
    if (!isObject(chunk) || choices.length === 0) return data;
    this.hasRole = true;
    const deltas = choices.map(({ delta }) => (isObject(delta) ? delta : {}));
    if (deltas.every(({ role }) => role !== undefined)) return data;
    return JSON.stringify({
      ...chunk,
      choices: choices.map((choice, index) => ({ ...choice, delta: { role: 'assistant', ...deltas[index] } })),
    });
  }

  /** The vendor's own error is forwarded unchanged. A relayed stream that breaks in another way ends with our error. */
  fail(error: LLMError): readonly string[] {
    if (!this.isRelaying) return this.options.encoder.fail(error);
    const { response, vendorBody } = error;
    // A complete response has already reported its own failure.
    if (response?.vendor.wire === this.options.wire) return NO_FRAMES;
    if (vendorBody === undefined || !isObject(vendorBody.error)) return this.options.encoder.fail(error);
    const event = typeof vendorBody.type === 'string' ? vendorBody.type : undefined;
    return [frameOf({ event }, JSON.stringify(vendorBody))];
  }
}

/** Each line of a message's data becomes a `data` line again. */
function frameOf({ event }: Pick<WireMessage, 'event'>, data: string): string {
  const lines = data.includes('\n') ? data.replaceAll('\n', '\ndata: ') : data;
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${lines}\n\n`;
}

/**
 * Removes what `include_usage` adds to a stream: a null in every chunk, and a last chunk without choices.
 * https://platform.openai.com/docs/api-reference/chat/create#chat-create-stream_options
 */
function withoutUsage(data: string): string | undefined {
  // Inside a JSON string the quotes would be escaped, so this is always a field.
  const rest = data.includes(NULL_USAGE) ? data.replace(NULL_USAGE, '') : data;
  return /"choices":\s*\[\s*\]/.test(rest) && /"usage":\s*\{/.test(rest) ? undefined : rest;
}

const NULL_USAGE = ',"usage":null';
