/** Picks the provider for a request, and the ones that the request may fall back to. */
import { LLMInvalidRequestError, LLMModelNotFoundError } from '../../../domain/errors/LLMErrors';
import type { ILLMProvider } from '../../../domain/interfaces/ILLMProvider';
import type { ProviderDirectory } from '../../../domain/interfaces/ProviderDirectory';
import type { ProviderTarget } from './ProviderTarget';

/**
 * A provider's id, `providerId/model`, or a provider that serves as a fallback only. Without a model, the fallback
 * gets the model of the request.
 */
export type FallbackEntry = string | ILLMProvider;

export interface Route {
  readonly target: ProviderTarget;
  /** Without the provider's id. Absent: the provider's default. */
  readonly model: string | undefined;
}

export interface ProviderSet {
  /** The only provider. */
  readonly provider?: ILLMProvider;
  /** By id; the id of a listed provider is its `getProviderName()`. The first is the default. */
  readonly providers?: Readonly<Record<string, ILLMProvider>> | readonly ILLMProvider[];
  /** Providers that may be added and removed at run time. They come after the others. */
  readonly directory?: ProviderDirectory;
  /** In the order in which they are tried. */
  readonly fallback?: readonly FallbackEntry[];
}

type CreateTarget = (id: string, provider: ILLMProvider) => ProviderTarget;

export class ProviderRouter {
  private readonly targets = new Map<string, ProviderTarget>();
  /** Targets of the directory's providers. */
  private readonly dynamic = new Map<string, ProviderTarget>();
  private readonly directory: ProviderDirectory | undefined;
  private readonly createTarget: CreateTarget;
  private readonly fallbacks: readonly Route[];

  /**
   * @throws LLMInvalidRequestError if there is neither a provider nor a directory, for an id that is empty, duplicated
   *   or contains a slash, and for an unknown fallback
   */
  constructor(set: ProviderSet, createTarget: CreateTarget) {
    this.directory = set.directory;
    this.createTarget = createTarget;
    for (const [id, provider] of providersById(set)) {
      if (id === '' || id.includes('/'))
        throw invalidProviders(`The provider id "${id}" is invalid: it must not be empty or contain a slash.`);
      if (this.targets.has(id)) throw invalidProviders(`Two providers have the id "${id}". Ids must be unique.`);
      this.targets.set(id, createTarget(id, provider));
    }
    if (this.targets.size === 0 && this.directory === undefined)
      throw invalidProviders('Pass at least one provider in "provider" or "providers".');
    this.fallbacks = (set.fallback ?? []).map((entry) => this.fallbackOf(entry));
  }

  /** The target for requests that name no provider. @throws LLMModelNotFoundError while there is no provider */
  get defaultTarget(): ProviderTarget {
    const [first] = this.all();
    if (first === undefined) throw new LLMModelNotFoundError('No provider is configured yet.', { path: 'model' });
    return first;
  }

  /**
   * `providerId/model` and `providerId` go to that provider, a missing model to the default provider, and any other
   * model to the only provider there is.
   * @throws LLMModelNotFoundError with the candidates
   */
  resolve(model: string | undefined): Route {
    if (model === undefined) return { target: this.defaultTarget, model };
    const route = this.routeByProviderId(model);
    if (route !== undefined) return route;
    const all = this.all();
    const [only, another] = all;
    if (only !== undefined && another === undefined) return { target: only, model };
    const candidates = all.map(({ id }) => `"${id}/${model}"`).join(', ');
    throw new LLMModelNotFoundError(`The model "${model}" names no provider. Expected one of: ${candidates}.`, {
      path: 'model',
    });
  }

  /**
   * Like `resolve`, for a provider that may have been created in another process a moment ago.
   * @param providerId the only provider that may be the target
   */
  resolveFresh(model: string | undefined, providerId?: string): Route | Promise<Route> {
    try {
      return this.resolveAt(model, providerId);
    } catch (error) {
      if (!(error instanceof LLMModelNotFoundError)) throw error;
      return this.refresh().then(() => this.resolveAt(model, providerId));
    }
  }

  private resolveAt(model: string | undefined, providerId: string | undefined): Route {
    const isGone = providerId !== undefined && this.get(providerId) === undefined;
    const route = isGone ? undefined : this.resolve(model);
    if (route !== undefined && (providerId === undefined || route.target.id === providerId)) return route;
    throw new LLMModelNotFoundError(
      `The model "${model ?? ''}" is to be called at the provider "${providerId ?? ''}", which does not exist any more. Add it again, or use another one.`,
      { path: 'model' },
    );
  }

  /** The routes to a routing rule's targets, except those whose provider no longer exists. */
  routesTo(targets: readonly string[]): readonly Route[] {
    return targets.map((target) => this.routeByProviderId(target)).filter((route) => route !== undefined);
  }

  /** The fallbacks for a request that failed on `route`. */
  after(route: Route): readonly Route[] {
    return this.fallbacks
      .filter(({ target }) => target !== route.target)
      .map(({ target, model }) => ({ target, model: model ?? route.model }));
  }

  all(): readonly ProviderTarget[] {
    const dynamic = [...(this.directory?.keys() ?? [])]
      .filter((id) => !this.targets.has(id))
      .map((id) => this.dynamicTarget(id));
    return [...this.targets.values(), ...dynamic.filter((target) => target !== undefined)];
  }

  get(id: string): ProviderTarget | undefined {
    return this.targets.get(id) ?? this.dynamicTarget(id);
  }

  /** Reloads the directory, which may have gained a provider in another process. */
  async refresh(): Promise<void> {
    await this.directory?.refresh();
  }

  /** Retry budget and circuit belong to one endpoint: a provider whose endpoint changed gets a new target. */
  private dynamicTarget(id: string): ProviderTarget | undefined {
    const provider = this.directory?.get(id);
    if (provider === undefined) {
      this.dynamic.delete(id);
      return undefined;
    }
    const existing = this.dynamic.get(id);
    if (existing?.provider === provider) return existing;
    const target = this.createTarget(id, provider);
    this.dynamic.set(id, target);
    return target;
  }

  private routeByProviderId(model: string): Route | undefined {
    const slash = model.indexOf('/');
    const target = this.get(slash === -1 ? model : model.slice(0, slash));
    if (target === undefined) return undefined;
    return { target, model: slash === -1 || slash === model.length - 1 ? undefined : model.slice(slash + 1) };
  }

  private fallbackOf(entry: FallbackEntry): Route {
    if (typeof entry === 'string') {
      const route = this.routeByProviderId(entry);
      if (route !== undefined) return route;
      const ids = this.all().map(({ id }) => id);
      throw invalidProviders(`The fallback "${entry}" names an unknown provider. Expected one of: ${ids.join(', ')}.`);
    }
    const existing = this.all().find(({ provider }) => provider === entry);
    return { target: existing ?? this.createTarget(entry.getProviderName(), entry), model: undefined };
  }
}

function providersById({ provider, providers }: ProviderSet): readonly (readonly [string, ILLMProvider])[] {
  const listed = providers === undefined ? [] : isList(providers) ? providers.map(withName) : Object.entries(providers);
  return provider === undefined ? listed : [withName(provider), ...listed];
}

function withName(provider: ILLMProvider): readonly [string, ILLMProvider] {
  return [provider.getProviderName(), provider];
}

function isList(providers: NonNullable<ProviderSet['providers']>): providers is readonly ILLMProvider[] {
  return Array.isArray(providers);
}

function invalidProviders(message: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(message, { path: 'providers' });
}
