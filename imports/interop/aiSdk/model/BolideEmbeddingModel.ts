/** A model of Bolide's providers as an embedding model of the AI SDK 7. */
import type { EmbeddingModelV4, EmbeddingModelV4CallOptions, EmbeddingModelV4Result } from '@ai-sdk/provider';
import { noEmbeddings } from '../../../business/ai/domain/errors/noEmbeddings';
import type { AnswerHead } from '../../../business/ai/domain/types/LLMTypes';
import type { AgentEngine } from '../../../library/AgentEngine';
import { toAISDKError } from './aiSdkErrors';
import { BOLIDE } from './carriedItem';
import { providerOfTarget } from '../../../business/ai/domain/entities/RoutingRule';
import { readEmbeddingOptions } from './readEmbeddingOptions';
import { toWarnings } from './writeOutcome';

export class BolideEmbeddingModel implements EmbeddingModelV4 {
  readonly specificationVersion = 'v4';
  readonly provider = BOLIDE;
  readonly modelId: string;
  /** What is more than a vendor takes at once is sent in several requests. */
  readonly maxEmbeddingsPerCall = Infinity;
  readonly supportsParallelCalls = true;
  private readonly engine: () => AgentEngine;
  private readonly userId: () => string | undefined | Promise<string>;

  /**
   * @param modelId `provider/model`, or `provider` for its model for embeddings
   * @param engine called for each call, so that it may be created on first use
   * @param userId of calls whose `providerOptions.bolide` have none
   */
  constructor(modelId: string, engine: () => AgentEngine, userId: () => string | undefined | Promise<string>) {
    this.modelId = modelId;
    this.engine = engine;
    this.userId = userId;
  }

  /**
   * @throws APICallError for a failed call, whose `cause` is the LLMError; UnsupportedFunctionalityError for a vendor
   *   without embeddings; the signal's reason when aborted
   */
  async doEmbed(call: EmbeddingModelV4CallOptions): Promise<EmbeddingModelV4Result> {
    const request = readEmbeddingOptions(call, providerOfTarget({ model: this.modelId }));
    let head: AnswerHead | undefined;
    try {
      const engine = this.engine();
      const { provider } = engine;
      const model = engine.resolveModel(this.modelId);
      const userId = engine.resolveUser(request.userId ?? (await this.userId()));
      if (provider.embed === undefined) throw noEmbeddings(provider);
      const onHead = (received: AnswerHead): void => void (head = received);
      const { embeddings, usage, vendor } = await provider.embed(userId, { ...request.options, model, onHead });
      return {
        embeddings: embeddings.map((embedding) => [...embedding]),
        usage: { tokens: usage.input_tokens },
        // JSON, but for its type.
        providerMetadata: { [BOLIDE]: vendor } as unknown as NonNullable<EmbeddingModelV4Result['providerMetadata']>,
        response: { headers: { ...head?.headers } },
        warnings: [...request.warnings, ...toWarnings([], vendor.warnings)],
      };
    } catch (error) {
      throw toAISDKError(error, this.modelId, { modelType: 'embeddingModel' });
    }
  }
}
