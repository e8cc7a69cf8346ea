/** Vectors of texts, from the models that agents use. */
import { noEmbeddings } from '../business/ai/domain/errors/noEmbeddings';
import { omitUndefined } from '../business/ai/domain/util/omitUndefined';
import type { Embeddings, EmbedOptions } from '../business/ai/domain/types/EmbeddingTypes';
import { createAgentEngine } from './AgentEngine';
import type { EngineOptions } from './AgentEngine';
import type { ModelName } from './modelName';

/** Without `provider` and `host`, models are those of the vendors that have a key in `process.env`. */
export interface EmbedSettings
  extends Omit<EmbedOptions, 'input' | 'model' | 'origin'>, Pick<EngineOptions, 'provider' | 'host' | 'logger'> {
  /** Default: the first provider's model for embeddings. */
  readonly model?: ModelName;
  /** Whose budgets and credentials count. Required with budgets and with a host; otherwise the default is `local`. */
  readonly userId?: string;
}

/**
 * The vectors of a text, or of each text of a list, in order. Any number of texts is sent in as many requests as the
 * vendor's limits make necessary.
 *
 * ```ts
 * const { embeddings } = await embed(['a river', 'a bank'], { model: 'openai/text-embedding-3-small' });
 * ```
 * @throws UnsupportedFeatureError for a vendor without embeddings, LLMModelNotFoundError, and what `LLMManager.embed`
 *   throws
 */
export async function embed(input: EmbedOptions['input'], settings: EmbedSettings = {}): Promise<Embeddings> {
  const { model, userId, provider, host, logger, ...options } = settings;
  const sources = omitUndefined({ provider, host, logger });
  const engine = createAgentEngine(sources, [], model);
  if (engine.provider.embed === undefined) throw noEmbeddings(engine.provider);
  return engine.provider.embed(engine.resolveUser(userId), {
    ...options,
    input,
    model: engine.resolveModel(model),
  });
}
