/** Bolide's providers as a provider of the AI SDK 7. */
import type { ImageModelV4, ProviderV4 } from '@ai-sdk/provider';
import { createAgentEngine } from '../../../library/AgentEngine';
import type { AgentEngine, EngineOptions } from '../../../library/AgentEngine';
import type { ModelName } from '../../../library/modelName';
import { noSuchModel } from './aiSdkErrors';
import type { ModelType } from './aiSdkErrors';
import { BolideEmbeddingModel } from './BolideEmbeddingModel';
import { BolideLanguageModel } from './BolideLanguageModel';

export interface CreateBolideOptions extends EngineOptions {
  /**
   * Whose budgets and credentials calls use. A function is called for each call, and may read the user of the current
   * request from an `AsyncLocalStorage`. `providerOptions.bolide.userId` overrides it. Required with budgets and with a
   * host; otherwise the default is `local`.
   */
  readonly userId?: string | (() => string | Promise<string>);
}

/** Called with `provider/model`, or registered: `createProviderRegistry({ bolide }, { separator: '/' })`. */
export interface BolideModelProvider extends ProviderV4 {
  (modelId: ModelName): BolideLanguageModel;
  languageModel(modelId: ModelName): BolideLanguageModel;
  embeddingModel(modelId: ModelName): BolideEmbeddingModel;
}

/**
 * Models come from the same places as an agent's: `provider`, which may be a manager, `providers`, a `host`, or the
 * environment.
 *
 * ```ts
 * const bolide = createBolide({ providers: [{ vendor: 'anthropic', apiKey }] });
 * const { text } = await generateText({ model: bolide('anthropic/claude-sonnet-5-5'), prompt: 'Hello' });
 * ```
 * @throws LLMInvalidRequestError for providers with invalid settings
 */
export function createBolide(options: CreateBolideOptions = {}): BolideModelProvider {
  const { userId, ...sources } = options;
  const isGiven = [sources.provider, sources.providers, sources.host].some((source) => source !== undefined);
  let engine = isGiven ? createAgentEngine(sources, [], undefined) : undefined;
  // The environment is read by the first call, after the program has loaded its variables.
  const engineFor = (modelId: string): AgentEngine => (engine ??= createAgentEngine(sources, [], modelId));
  const user = typeof userId === 'function' ? userId : () => userId;
  const languageModel = (modelId: string): BolideLanguageModel =>
    new BolideLanguageModel(modelId, () => engineFor(modelId), user);
  return Object.assign((modelId: string) => languageModel(modelId), {
    specificationVersion: 'v4' as const,
    languageModel,
    embeddingModel: (modelId: string) => new BolideEmbeddingModel(modelId, () => engineFor(modelId), user),
    imageModel: (modelId: string): ImageModelV4 => refuse(modelId, 'imageModel'),
  });
}

/** The vendors that have a key in the environment. */
export const bolide: BolideModelProvider = createBolide();

function refuse(modelId: string, modelType: ModelType): never {
  throw noSuchModel(
    modelId,
    modelType,
    `Bolide has no ${modelType} "${modelId}": it serves models for language and embeddings.`,
  );
}
