/** Bolide's providers as a provider of the AI SDK 7. */
import type { EmbeddingModelV4, ImageModelV4, ProviderV4 } from '@ai-sdk/provider';
import { LLMManager } from '../../../business/ai/application/services/LLMManager';
import type { LLMManagerOptions } from '../../../business/ai/application/services/LLMManager';
import type { ILLMProvider } from '../../../business/ai/domain/interfaces/ILLMProvider';
import { noSuchModel } from './aiSdkErrors';
import type { ModelType } from './aiSdkErrors';
import { BolideLanguageModel } from './BolideLanguageModel';

type UserId = string | (() => string | Promise<string>);

export interface CreateBolideOptions extends LLMManagerOptions {
  /** Sends the calls, instead of a manager created from these options: its budgets and circuit breakers apply. */
  readonly manager?: ILLMProvider;
  /** The same, of a module. */
  readonly module?: { readonly manager: ILLMProvider };
  /**
   * Whose budgets and credentials calls use. A function is called for each call, and may read the current request's
   * user from an `AsyncLocalStorage`. `providerOptions.bolide.userId` overrides it. Default: `local`.
   */
  readonly userId?: UserId;
}

/** Call it with `provider/model`, or register it: `createProviderRegistry({ bolide })`. */
export interface BolideProvider extends ProviderV4 {
  (modelId: string): BolideLanguageModel;
  languageModel(modelId: string): BolideLanguageModel;
}

const DEFAULT_USER = 'local';

/**
 * ```ts
 * const bolide = createBolide({ providers: [createProvider({ vendor: 'anthropic', apiKey })] });
 * const { text } = await generateText({ model: bolide('anthropic/claude-sonnet-5-5'), prompt: 'Hello' });
 * ```
 * @throws LLMInvalidRequestError for providers that cannot be routed to
 */
export function createBolide({ manager, module, userId, ...options }: CreateBolideOptions): BolideProvider {
  const sender = manager ?? module?.manager ?? new LLMManager(options);
  return providerOver(() => sender, userId);
}

/** @param sender called for each call, so that it may be created on first use */
export function providerOver(sender: () => ILLMProvider, userId: UserId = DEFAULT_USER): BolideProvider {
  const languageModel = (modelId: string): BolideLanguageModel =>
    new BolideLanguageModel({
      modelId,
      provider: sender,
      userId: typeof userId === 'function' ? userId : () => userId,
    });
  return Object.assign((modelId: string) => languageModel(modelId), {
    specificationVersion: 'v4' as const,
    languageModel,
    embeddingModel: (modelId: string): EmbeddingModelV4 => refuse(modelId, 'embeddingModel'),
    imageModel: (modelId: string): ImageModelV4 => refuse(modelId, 'imageModel'),
  });
}

function refuse(modelId: string, modelType: ModelType): never {
  throw noSuchModel(modelId, modelType, `Bolide has no ${modelType} "${modelId}": it serves language models only.`);
}
