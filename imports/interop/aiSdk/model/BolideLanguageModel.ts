/** A model of Bolide's providers as a language model of the AI SDK 7. */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import { isLLMError } from '../../../business/ai/domain/errors/LLMErrors';
import type { ILLMProvider } from '../../../business/ai/domain/interfaces/ILLMProvider';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { AnswerHead, GenerateOptions } from '../../../business/ai/domain/types/LLMTypes';
import type { ResponseStreamEvent } from '../../../business/ai/domain/types/StreamEvents';
import type { AgentEngine } from '../../../library/AgentEngine';
import { toAISDKError } from './aiSdkErrors';
import { BOLIDE } from './carriedItem';
import { ContentWriter } from './ContentWriter';
import { providerOfTarget } from '../../../business/ai/domain/entities/RoutingRule';
import { readCallOptions } from './readCallOptions';
import type { CallRequest } from './readCallOptions';
import { StreamWriter } from './StreamWriter';
import { toReadableStream } from './toReadableStream';
import { finishReason, responseMetadata, responseProviderMetadata, responseUsage, toWarnings } from './writeOutcome';

export class BolideLanguageModel implements LanguageModelV4 {
  readonly specificationVersion = 'v4';
  readonly provider = BOLIDE;
  readonly modelId: string;
  /** Providers send URLs to vendors that fetch them and download the others themselves, behind the address guard. */
  readonly supportedUrls = { '*/*': [/^https?:\/\/.+$/] };
  private readonly engine: () => AgentEngine;
  private readonly userId: () => string | undefined | Promise<string>;

  /**
   * @param modelId `provider/model`, or `provider` for its default model
   * @param engine called for each call, so that it may be created on first use
   * @param userId of calls whose `providerOptions.bolide` have none
   */
  constructor(modelId: string, engine: () => AgentEngine, userId: () => string | undefined | Promise<string>) {
    this.modelId = modelId;
    this.engine = engine;
    this.userId = userId;
  }

  /**
   * @throws APICallError for a failed call, whose `cause` is the LLMError; UnsupportedFunctionalityError for what the
   *   model or Bolide does not have; the signal's reason when aborted
   */
  async doGenerate(call: LanguageModelV4CallOptions): Promise<LanguageModelV4GenerateResult> {
    const request = readCallOptions(call, providerOfTarget({ model: this.modelId }));
    let head: AnswerHead | undefined;
    try {
      const { provider, userId, options } = await this.prepare(request);
      const response = await provider.generate(userId, { ...options, onHead: (received) => (head = received) });
      const content = new ContentWriter(request.namesOfBuiltIns, createSourceIds(response.id));
      const { vendor } = response;
      return {
        content: response.output.flatMap((item) => content.write(item)),
        finishReason: finishReason(response),
        usage: responseUsage(response),
        providerMetadata: responseProviderMetadata(response),
        response: omitUndefined({ ...responseMetadata(response), headers: head && { ...head.headers } }),
        warnings: [...request.warnings, ...toWarnings(vendor.losses, vendor.warnings)],
      };
    } catch (error) {
      throw toAISDKError(error, this.modelId);
    }
  }

  /** Resolves with the first event, and throws what `doGenerate` throws until then. Later errors are parts. */
  async doStream(call: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamResult> {
    const request = readCallOptions(call, providerOfTarget({ model: this.modelId }));
    let head: AnswerHead | undefined;
    try {
      const { provider, userId, options } = await this.prepare(request);
      const events = provider
        .stream(userId, { ...options, onHead: (received) => (head = received) })
        [Symbol.asyncIterator]();
      const first = await events.next();
      const writer = new StreamWriter({
        namesOfBuiltIns: request.namesOfBuiltIns,
        createSourceId: createSourceIds(first.done === true ? '' : idOf(first.value)),
        // Nothing retries a stream that has started, unless the application asks for it with `streamRetries`.
        toError: (error) => toAISDKError(error, this.modelId, { isRetryable: isLLMError(error) && error.retryable }),
      });
      const { headers = {}, losses = [], warnings = [] } = head ?? {};
      return {
        stream: toReadableStream({ events, first, signal: call.abortSignal }, writer, {
          type: 'stream-start',
          warnings: [...request.warnings, ...toWarnings(losses, warnings)],
        }),
        response: { headers: { ...headers } },
      };
    } catch (error) {
      throw toAISDKError(error, this.modelId);
    }
  }

  private async prepare({ options, userId }: CallRequest): Promise<PreparedCall> {
    const engine = this.engine();
    const model = engine.resolveModel(this.modelId);
    const user = engine.resolveUser(userId ?? (await this.userId()));
    return { provider: engine.provider, userId: user, options: { ...options, model } };
  }
}

interface PreparedCall {
  readonly provider: ILLMProvider;
  readonly userId: string;
  readonly options: GenerateOptions;
}

/** Ids of sources are unique in a conversation, for responses' ids are. */
function createSourceIds(responseId: string): () => string {
  let count = 0;
  return () => `${responseId === '' ? 'response' : responseId}-source-${count++}`;
}

function idOf(event: ResponseStreamEvent): string {
  return event.type === 'response.created' ? event.id : '';
}
