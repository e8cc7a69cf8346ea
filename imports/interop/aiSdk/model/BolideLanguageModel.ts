/** A model of Bolide's providers as a language model of the AI SDK 7. */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamResult,
} from '@ai-sdk/provider';
import type { ILLMProvider } from '../../../business/ai/domain/interfaces/ILLMProvider';
import type { AnswerHead } from '../../../business/ai/domain/types/LLMTypes';
import type { ResponseStreamEvent } from '../../../business/ai/domain/types/StreamEvents';
import { toAISDKError } from './aiSdkErrors';
import { BOLIDE } from './carriedItem';
import { ContentWriter } from './ContentWriter';
import { readCallOptions } from './readCallOptions';
import type { CallRequest } from './readCallOptions';
import { StreamWriter } from './StreamWriter';
import { toReadableStream } from './toReadableStream';
import { finishReason, responseMetadata, responseProviderMetadata, toUsage, toWarnings } from './writeOutcome';

export interface BolideLanguageModelOptions {
  /** `provider/model`, as `provider` resolves it. */
  readonly modelId: string;
  /** Called for each call, so that it may be created on first use. */
  readonly provider: () => ILLMProvider;
  /** Whose budgets and credentials calls use, unless `providerOptions.bolide.userId` names another user. */
  readonly userId: () => string | Promise<string>;
}

export class BolideLanguageModel implements LanguageModelV4 {
  readonly specificationVersion = 'v4';
  readonly provider = BOLIDE;
  readonly modelId: string;
  /** Providers send URLs to vendors that fetch them and download the others themselves, behind the address guard. */
  readonly supportedUrls = { '*/*': [/^https?:\/\/.+$/] };
  private readonly options: BolideLanguageModelOptions;

  constructor(options: BolideLanguageModelOptions) {
    this.modelId = options.modelId;
    this.options = options;
  }

  /**
   * @throws APICallError for a failed call, whose `cause` is the LLMError; UnsupportedFunctionalityError for what the
   *   model or Bolide does not have; the signal's reason when aborted
   */
  async doGenerate(call: LanguageModelV4CallOptions): Promise<LanguageModelV4GenerateResult> {
    const request = readCallOptions(call, this.modelId);
    let head: AnswerHead | undefined;
    try {
      const response = await this.options.provider().generate(await this.userOf(request), {
        ...request.options,
        onHead: (received) => (head = received),
      });
      const content = new ContentWriter(request.namesOfBuiltIns, createSourceIds(response.id));
      const { vendor } = response;
      return {
        content: response.output.flatMap((item) => content.write(item)),
        finishReason: finishReason(response),
        usage: toUsage(response.usage, vendor.usage),
        providerMetadata: responseProviderMetadata(response),
        response: { ...responseMetadata(response), ...(head === undefined ? {} : { headers: { ...head.headers } }) },
        warnings: [...request.warnings, ...toWarnings(vendor.losses, vendor.warnings)],
      };
    } catch (error) {
      throw toAISDKError(error, this.modelId);
    }
  }

  /** Resolves with the first event, and throws what `doGenerate` throws until then. Later errors are parts. */
  async doStream(call: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamResult> {
    const request = readCallOptions(call, this.modelId);
    let head: AnswerHead | undefined;
    try {
      const events = this.options
        .provider()
        .stream(await this.userOf(request), { ...request.options, onHead: (received) => (head = received) })
        [Symbol.asyncIterator]();
      const first = await events.next();
      const writer = new StreamWriter({
        namesOfBuiltIns: request.namesOfBuiltIns,
        createSourceId: createSourceIds(first.done === true ? '' : idOf(first.value)),
        toError: (error) => toAISDKError(error, this.modelId),
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

  private async userOf({ userId }: CallRequest): Promise<string> {
    return userId ?? this.options.userId();
  }
}

/** Ids of sources are unique in a conversation, for responses' ids are. */
function createSourceIds(responseId: string): () => string {
  let count = 0;
  return () => `${responseId === '' ? 'response' : responseId}-source-${count++}`;
}

function idOf(event: ResponseStreamEvent): string {
  return event.type === 'response.created' ? event.id : '';
}
