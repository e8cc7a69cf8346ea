/**
 * A stream whose client speaks the very wire that it came over: its messages go on as they came, unknown fields and
 * all. When another provider answers instead, over another wire, the stream is encoded like any other.
 */
import type { LLMError } from '../../../business/ai/domain/errors/LLMErrors';
import { isObject } from '../../../business/ai/domain/json';
import type { ResponseStreamEvent } from '../../../business/ai/domain/types/StreamEvents';
import { NO_FRAMES } from '../../../business/ai/infrastructure/converters/stream/StreamEncoder';
import type { StreamEncoder } from '../../../business/ai/infrastructure/converters/stream/StreamEncoder';
import type { StatelessWire } from './GatewayApi';

type WireMessage = Extract<ResponseStreamEvent, { readonly type: 'wire.message' }>;

export interface RelayOptions {
  readonly wire: StatelessWire;
  /** For what came over another wire, and for errors. */
  readonly encoder: StreamEncoder;
  /** The client did not ask chat completions for token counts; the vendor was asked all the same. */
  readonly hidesUsage: boolean;
}

export class RelayEncoder implements StreamEncoder {
  private readonly options: RelayOptions;
  private isRelaying = false;
  private hasRole = false;

  constructor(options: RelayOptions) {
    this.options = options;
  }

  push(event: ResponseStreamEvent): readonly string[] {
    if (event.type === 'wire.message' && event.wire === this.options.wire) {
      this.isRelaying = true;
      const told = this.options.wire === 'chat_completions' ? this.withRole(event.data) : event.data;
      const data = this.options.hidesUsage ? withoutUsage(told) : told;
      return data === undefined ? NO_FRAMES : [frameOf(event, data)];
    }
    return this.isRelaying ? NO_FRAMES : this.options.encoder.push(event);
  }

  end(): readonly string[] {
    return this.isRelaying ? NO_FRAMES : this.options.encoder.end();
  }

  /**
   * Azure has been seen to leave the role out of its first delta (azure-chat-stream-text-a), without which OpenAI's
   * own SDK refuses the stream.
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

  /**
   * A host's own error goes on as it came; a stream that is relayed and breaks in another way gets an error of ours
   * after it.
   */
  fail(error: LLMError): readonly string[] {
    if (!this.isRelaying) return this.options.encoder.fail(error);
    const { response, vendorBody } = error;
    // An answer that came whole says itself what is wrong with it.
    if (response?.vendor.wire === this.options.wire) return NO_FRAMES;
    if (vendorBody === undefined || !isObject(vendorBody.error)) return this.options.encoder.fail(error);
    const event = typeof vendorBody.type === 'string' ? vendorBody.type : undefined;
    return [frameOf({ event }, JSON.stringify(vendorBody))];
  }
}

/** A message may have had several lines of data; each is one again. */
function frameOf({ event }: Pick<WireMessage, 'event'>, data: string): string {
  const lines = data.includes('\n') ? data.replaceAll('\n', '\ndata: ') : data;
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${lines}\n\n`;
}

/**
 * What `include_usage` adds to a stream: a null in every chunk, and a last chunk without choices.
 * https://platform.openai.com/docs/api-reference/chat/create#chat-create-stream_options
 */
function withoutUsage(data: string): string | undefined {
  // Inside a JSON text the quotes would be escaped, so this is always a field.
  const said = data.includes(NULL_USAGE) ? data.replace(NULL_USAGE, '') : data;
  return /"choices":\s*\[\s*\]/.test(said) && /"usage":\s*\{/.test(said) ? undefined : said;
}

const NULL_USAGE = ',"usage":null';
