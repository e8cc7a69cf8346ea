/** The providers and models that a caller may use. */
import { permittedProviders } from '../../../business/ai/application/operations/permittedProviders';
import { LLMModelNotFoundError } from '../../../business/ai/domain/errors/LLMErrors';
import type { AccessPolicy } from '../../../business/ai/domain/interfaces/AccessPolicy';
import type { ModelCapabilities } from '../../../business/ai/domain/interfaces/ILLMProvider';
import type { WireName } from '../../../business/ai/domain/types/VendorTypes';
import type { AIModule } from '../../../business/ai/infrastructure/factories/createAIModule';
import { toActor } from '../../auth/ApiPrincipal';
import type { ApiPrincipal } from '../../auth/ApiPrincipal';
import { resolveModel } from './resolveModel';

export interface ResolvedModel {
  readonly providerId: string;
  /** The model in the form that the manager routes. */
  readonly address: string;
  /** The wire that the provider uses for a client of the requested wire. */
  readonly wire: WireName | undefined;
  readonly capabilities: ModelCapabilities;
}

export interface ListedModel {
  /** Valid as a request's `model`. */
  readonly id: string;
  readonly providerId: string;
}

export interface ModelDirectoryPorts {
  readonly module: Pick<AIModule, 'providers'>;
  /** Default: everyone may use every provider. */
  readonly access?: AccessPolicy;
}

export class ModelDirectory {
  private readonly ports: ModelDirectoryPorts;

  constructor(ports: ModelDirectoryPorts) {
    this.ports = ports;
  }

  /** @throws LLMModelNotFoundError with the candidates */
  async resolve(principal: ApiPrincipal, requested: string | undefined, wire: WireName): Promise<ResolvedModel> {
    const { providerId, model } = resolveModel(requested, await this.visible(principal));
    const provider = this.ports.module.providers.get(providerId);
    if (provider === undefined)
      throw new LLMModelNotFoundError(`The provider '${providerId}' no longer exists.`, { path: 'model' });
    return {
      providerId,
      address: model === undefined ? providerId : `${providerId}/${model}`,
      wire: provider.wireOf?.(wire),
      capabilities: provider.getCapabilities(model ?? '', wire),
    };
  }

  async list(principal: ApiPrincipal): Promise<readonly ListedModel[]> {
    return (await this.visible(principal)).flatMap(({ id: providerId, allowedModels, defaultModel, deployment }) => {
      const names = allowedModels ?? [defaultModel ?? deployment].filter((name) => name !== undefined);
      // A provider's own name stands for its default model.
      return names.length === 0
        ? [{ id: providerId, providerId }]
        : names.map((name) => ({ id: `${providerId}/${name}`, providerId }));
    });
  }

  /** The default one first. */
  private async visible(principal: ApiPrincipal): Promise<ReturnType<AIModule['providers']['rows']>> {
    const { module, access } = this.ports;
    await module.providers.refresh();
    const providers = module.providers.rows();
    return access === undefined ? providers : permittedProviders(access, toActor(principal), providers);
  }
}
