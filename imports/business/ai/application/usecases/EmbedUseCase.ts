/** Makes vectors of texts for an actor who may use the provider. */
import { consoleLogger } from '../../../../log/consoleLogger';
import type { Logger } from '../../domain/interfaces/Logger';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { Actor } from '../../domain/types/Actor';
import type { Embeddings, EmbedOptions } from '../../domain/types/EmbeddingTypes';
import type { LLMManager } from '../services/LLMManager';
import { authorizeUse } from './authorizeUse';
import type { AuthorizationPorts } from './authorizeUse';
import { originOf } from './RunLauncher';

export interface EmbedRequest extends Pick<EmbedOptions, 'dimensions' | 'taskType'> {
  readonly providerId: string;
  /** Default: the vendor's model for embeddings. */
  readonly model?: string;
  readonly input: string | readonly string[];
}

export interface EmbedUseCasePorts extends Omit<AuthorizationPorts, 'logger'> {
  readonly manager: Pick<LLMManager, 'embed'>;
  readonly logger?: Logger;
}

export class EmbedUseCase {
  private readonly ports: EmbedUseCasePorts;

  constructor(ports: EmbedUseCasePorts) {
    this.ports = ports;
  }

  /** @throws LLMPermissionError, LLMInvalidRequestError for an unknown provider; what `LLMManager.embed` throws */
  async execute(actor: Actor, { providerId, model, ...options }: EmbedRequest): Promise<Embeddings> {
    const { manager, logger = consoleLogger, ...ports } = this.ports;
    const use = omitUndefined({ providerId, tools: [], model });
    await authorizeUse(actor, use, { ...ports, logger });
    return manager.embed(actor.userId, {
      ...options,
      model: model === undefined ? providerId : `${providerId}/${model}`,
      origin: { api: 'embeddings', ...originOf(actor) },
    });
  }
}
