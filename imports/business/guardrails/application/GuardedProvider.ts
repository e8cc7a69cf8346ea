/** Decorates a provider so that guardrails check every call. */
import { GuardrailError, GuardrailFailureError, isLLMError } from '../../ai/domain/errors/LLMErrors';
import { noEmbeddings, noRelay } from '../../ai/domain/errors/noEmbeddings';
import type { ILLMProvider } from '../../ai/domain/interfaces/ILLMProvider';
import { ProviderDecorator } from '../../ai/domain/interfaces/ProviderDecorator';
import type { Embeddings, EmbedOptions } from '../../ai/domain/types/EmbeddingTypes';
import type { GuardedRequest } from '../../ai/domain/types/GuardrailTypes';
import type { GenerateOptions } from '../../ai/domain/types/LLMTypes';
import type { RelayCall, RelayResponse } from '../../ai/domain/types/RelayTypes';
import type { LLMResponse } from '../../ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../ai/domain/types/StreamEvents';
import { normalizeInput } from '../../ai/application/services/ContentNormalizer';
import { replayResponse } from '../../ai/application/services/shared/replayResponse';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import { embeddingRequest, guardedEmbedding } from './embeddingRequest';
import type { GuardedCall, GuardrailChain } from './GuardrailChain';
import { guardedMedia, mediaRequest, readMedia } from './mediaRequest';
import { GuardedStream } from './GuardedStream';
import { ResponseTexts } from './ResponseTexts';

export class GuardedProvider extends ProviderDecorator {
  private readonly chain: GuardrailChain;

  constructor(provider: ILLMProvider, chain: GuardrailChain) {
    super(provider);
    this.chain = chain;
  }

  /** @throws GuardrailError; whatever the provider throws */
  async generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    const call = guardedCall(userId, options, false);
    const checked = await this.checkRequest(options, call);
    return this.complete(userId, checked, call);
  }

  async *stream(userId: string, options: GenerateOptions): AsyncGenerator<ResponseStreamEvent, void, undefined> {
    const { chain, provider } = this;
    const call = guardedCall(userId, options, true);
    const checked = await this.checkRequest(options, call);
    if (chain.holdsStreams) {
      yield* replayResponse(await this.complete(userId, checked, call));
      return;
    }
    const { relay, ...unrelayed } = checked.options;
    const events = provider.stream(userId, chain.readsOutput ? unrelayed : checked.options);
    if (!chain.readsOutput) {
      for await (const event of events)
        yield event.type === 'response.completed'
          ? { ...event, response: withWarnings(event.response, checked.warnings) }
          : event;
      return;
    }
    const texts = new ResponseTexts(chain, call);
    const stream = new GuardedStream(texts, chain, call, (response) => withWarnings(response, checked.warnings));
    try {
      for await (const event of events) yield* stream.pass(event);
    } catch (error) {
      throw await withoutUncheckedText(error, texts);
    }
  }

  /** @throws UnsupportedFeatureError for a provider without embeddings; GuardrailError */
  override async embed(userId: string, options: EmbedOptions): Promise<Embeddings> {
    if (this.provider.embed === undefined) throw noEmbeddings(this.provider);
    const call = guardedCall(userId, options, false);
    const request = embeddingRequest(options);
    const { onAnnotation, ...rest } = options;
    const checked = await this.chain.before(request, call);
    const changed = checked.request === request ? {} : guardedEmbedding(options, checked.request);
    return this.provider.embed(userId, { ...rest, ...changed });
  }

  /**
   * Checks the texts of the request. Responses pass as they arrive.
   * @throws UnsupportedFeatureError for a provider that cannot relay; GuardrailError
   */
  override async relay(userId: string, { onAnnotation, ...relayed }: RelayCall): Promise<RelayResponse> {
    if (this.provider.relay === undefined) throw noRelay(this.provider);
    const media = this.chain.readsRequests ? await readMedia(relayed.body) : undefined;
    if (media === undefined) return this.provider.relay(userId, relayed);
    const request = await mediaRequest(media.fields);
    const options = omitUndefined({ ...relayed, onAnnotation });
    const checked = await this.chain.before(request, guardedCall(userId, options, media.fields['stream'] === true));
    const body =
      checked.request === request ? relayed.body : media.write(await guardedMedia(media.fields, checked.request));
    return this.provider.relay(userId, { ...relayed, ...omitUndefined({ body }) });
  }

  private async complete(
    userId: string,
    { options, warnings }: CheckedRequest,
    call: GuardedCall,
  ): Promise<LLMResponse> {
    const { chain, provider } = this;
    if (!chain.readsOutput) return withWarnings(await provider.generate(userId, options), warnings);
    const { relay, ...unrelayed } = options;
    const texts = new ResponseTexts(chain, call);
    let response: LLMResponse;
    try {
      response = await provider.generate(userId, unrelayed);
    } catch (error) {
      throw await withoutUncheckedText(error, texts);
    }
    try {
      const filtered = await texts.filterResponse(response);
      return withWarnings(await chain.after(filtered, call, false), warnings);
    } catch (error) {
      throw withholding(error, response);
    }
  }

  private async checkRequest(options: GenerateOptions, call: GuardedCall): Promise<CheckedRequest> {
    const { onAnnotation, ...rest } = options;
    const { instructions, tools, tool_choice, response_format, stop, reasoning, promptCache } = rest;
    const { metadata, user, vendor } = rest;
    const request: GuardedRequest = omitUndefined({
      input: normalizeInput(rest.input),
      ...{ instructions, tools, tool_choice, response_format, stop, reasoning, promptCache },
      ...{ metadata, user, vendor },
    });
    const checked = await this.chain.before(request, call);
    const warnings = checked.changedBy.map((name) => `The guardrail "${name}" changed the request.`);
    if (warnings.length === 0) return { options: rest, warnings };
    return {
      warnings,
      options: {
        ...rest,
        ...checked.request,
        onHead: (head) => options.onHead?.({ ...head, warnings: [...warnings, ...(head.warnings ?? [])] }),
      },
    };
  }
}

interface CheckedRequest {
  readonly options: GenerateOptions;
  /** What the caller is told of the changes. */
  readonly warnings: readonly string[];
}

function guardedCall(
  userId: string,
  options: GenerateOptions | EmbedOptions | RelayCall,
  isStream: boolean,
): GuardedCall {
  const { model, origin, signal, onAnnotation } = options;
  return {
    annotate: (annotation) => onAnnotation?.(annotation),
    context: omitUndefined({ userId, isStream, model, origin, signal }),
  };
}

function withWarnings(response: LLMResponse, warnings: readonly string[]): LLMResponse {
  if (warnings.length === 0) return response;
  const { vendor } = response;
  return { ...response, vendor: { ...vendor, warnings: [...warnings, ...vendor.warnings] } };
}

/** The response is billed, but nobody may read it. */
function withholding(error: unknown, response: LLMResponse): unknown {
  if (error instanceof GuardrailError || error instanceof GuardrailFailureError) {
    const { fields, ...vendor } = response.vendor;
    error.withheld = { ...response, output: [], output_text: '', vendor };
  }
  return error;
}

/** A failed or refused response is text of the model as well. */
async function withoutUncheckedText(error: unknown, texts: ResponseTexts): Promise<unknown> {
  if (!isLLMError(error) || error.response === undefined) return error;
  const { response } = error;
  try {
    const filtered = await texts.filterResponse(response);
    if (filtered !== response) error.response = filtered;
    return error;
  } catch (denied) {
    return withholding(denied, response);
  }
}
