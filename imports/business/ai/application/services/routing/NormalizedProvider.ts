/** Decorates a provider so that every response is complete: the one place where a foreign provider's output enters. */
import { EventStream } from '../../../domain/events/EventStream';
import { foreignError } from '../../../domain/errors/foreignError';
import { isLLMError } from '../../../domain/errors/LLMErrors';
import { noEmbeddings } from '../../../domain/errors/noEmbeddings';
import { isObject } from '../../../domain/util/json';
import type { ILLMProvider } from '../../../domain/interfaces/ILLMProvider';
import { ProviderDecorator } from '../../../domain/interfaces/ProviderDecorator';
import type { Embeddings, EmbedOptions } from '../../../domain/types/EmbeddingTypes';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';
import type { FunctionCallItem, LLMResponse, OutputItem } from '../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';
import { createCallId, looseOutput, normalizeOutput } from './normalizeOutput';
import { normalizeResponse } from './normalizeResponse';
import { priceCall, priceResponse } from './priceResponse';

export class NormalizedProvider extends ProviderDecorator {
  private readonly id: string;

  /** @param id by which responses name the provider */
  constructor(provider: ILLMProvider, id = provider.getProviderName()) {
    super(provider);
    this.id = id;
  }

  /**
   * @throws LLMServerError if the provider returns no response object with output; the error that the provider throws,
   *   as an LLMError if it has an HTTP status or is one of the connection
   */
  async generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    let response: LLMResponse;
    try {
      response = await this.provider.generate(userId, options);
    } catch (thrown) {
      throw this.errorOf(thrown, options);
    }
    return this.priced(normalizeResponse(response, this.getProviderName()), options);
  }

  /** @throws as `generate` does */
  stream(userId: string, options: GenerateOptions): EventStream {
    const events = new NormalizedEvents(this.getProviderName());
    return EventStream.of(this.provider.stream(userId, options)).through({
      push: (event, out) => {
        if (event.type === 'response.failed') {
          // Boundary: the declared type is LLMError, but providers from outside report what their client threw.
          out.push({ ...event, error: this.errorOf(event.error, options) as typeof event.error });
        } else if (event.type === 'response.completed') {
          out.push({ ...event, response: this.priced(events.response(event.response), options) });
        } else out.push(events.normalize(event));
      },
      fail: (thrown) => this.errorOf(thrown, options),
    });
  }

  /** @throws UnsupportedFeatureError for a provider without embeddings */
  override async embed(userId: string, options: EmbedOptions): Promise<Embeddings> {
    if (this.provider.embed === undefined) throw noEmbeddings(this.provider);
    try {
      const made = await this.provider.embed(userId, options);
      const models = options.model === undefined ? [made.model] : [made.model, options.model];
      const cost = priceCall(made.usage, this.provider, models);
      return { ...made, vendor: { ...made.vendor, providerId: this.id, ...cost } };
    } catch (thrown) {
      throw this.errorOf(thrown, options);
    }
  }

  private priced(response: LLMResponse, { model }: Pick<GenerateOptions, 'model'>): LLMResponse {
    return priceResponse(response, this.provider, this.id, model);
  }

  private errorOf(thrown: unknown, options: Pick<GenerateOptions, 'model' | 'signal'>): unknown {
    if (isLLMError(thrown)) {
      if (thrown.response !== undefined) thrown.response = this.priced(thrown.response, options);
      return thrown;
    }
    if (options.signal?.aborted === true) return thrown;
    return foreignError(thrown, this.getProviderName()) ?? thrown;
  }
}

/** The events of one stream: calls get the same ids in every event, and the last one has all output. */
class NormalizedEvents {
  private readonly provider: string;
  /** The ids of calls that came without one, by their place in the output. */
  private readonly callIds = new Map<number, string>();
  private readonly calls = new Map<number, FunctionCallItem>();
  private text = '';

  constructor(provider: string) {
    this.provider = provider;
  }

  normalize(event: ResponseStreamEvent): ResponseStreamEvent {
    switch (event.type) {
      case 'response.output_text.delta':
        this.text += event.delta;
        return event;
      case 'response.tool_use.done': {
        const item = this.item(event.item, event.output_index);
        if (item.type !== 'function_call') return event;
        this.calls.set(event.output_index, item);
        return item === event.item ? event : { ...event, item };
      }
      case 'response.output_item.done': {
        const item = this.item(event.item, event.output_index);
        return item === event.item ? event : { ...event, item };
      }
      default:
        return event;
    }
  }

  private item(given: OutputItem, index: number): OutputItem {
    const [item, ...others] = normalizeOutput([given], this.provider, () => this.callId(index));
    // A message with calls becomes several items, which the completed response has.
    return item === undefined || others.length > 0 ? given : item;
  }

  private callId(index: number): string {
    const id = this.callIds.get(index) ?? createCallId();
    this.callIds.set(index, id);
    return id;
  }

  /** The last response. */
  response(given: LLMResponse): LLMResponse {
    const ids = [...this.callIds.values()];
    return normalizeResponse(
      isObject(given) && looseOutput(given).length === 0 ? { ...given, output: this.streamed() } : given,
      this.provider,
      (number) => ids[number] ?? createCallId(),
    );
  }

  private streamed(): readonly unknown[] {
    return [...(this.text === '' ? [] : [this.text]), ...this.calls.values()];
  }
}
