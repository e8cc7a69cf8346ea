/** Which provider a request goes to, and which ones it may fall back to. */
import { LLMInvalidRequestError, LLMModelNotFoundError } from '../../domain/errors/LLMErrors';
import type { ILLMProvider } from '../../domain/interfaces/ILLMProvider';
import type { ProviderHost } from './ProviderHost';

/** A provider's id, `providerId/model`, or a provider that is not routed to otherwise. Without a model the request's own is asked for. */
export type FallbackEntry = string | ILLMProvider;

export interface Route {
  readonly host: ProviderHost;
  /** Without the provider's id; absent: the provider's default. */
  readonly model: string | undefined;
}

export interface ProviderSet {
  /** The only one. */
  readonly provider?: ILLMProvider;
  /** By id; a list by `getProviderName()`. The first is the default. */
  readonly providers?: Readonly<Record<string, ILLMProvider>> | readonly ILLMProvider[];
  /** In the order in which they are asked. */
  readonly fallback?: readonly FallbackEntry[];
}

export class ProviderRoutes {
  private readonly hosts = new Map<string, ProviderHost>();
  private readonly fallbacks: readonly { readonly host: ProviderHost; readonly model: string | undefined }[];
  readonly main: ProviderHost;

  /** @throws LLMInvalidRequestError for an empty set, an id that is empty, doubled or holds a slash, and an unknown fallback */
  constructor(set: ProviderSet, createHost: (id: string, provider: ILLMProvider) => ProviderHost) {
    for (const [id, provider] of idsOf(set)) {
      if (id === '' || id.includes('/')) throw wrong(`a provider's id must be a word without slashes, not '${id}'`);
      if (this.hosts.has(id)) throw wrong(`two providers have the id '${id}'`);
      this.hosts.set(id, createHost(id, provider));
    }
    const [main] = this.hosts.values();
    if (main === undefined) throw wrong('at least one provider is needed');
    this.main = main;
    this.fallbacks = (set.fallback ?? []).map((entry) => this.fallbackOf(entry, createHost));
  }

  /**
   * `providerId/model` and `providerId` go to that provider; without a model the first one is asked; anything else goes to the
   * only provider there is.
   * @throws LLMModelNotFoundError with the candidates
   */
  resolve(model: string | undefined): Route {
    if (model === undefined) return { host: this.main, model };
    const route = this.named(model);
    if (route !== undefined) return route;
    if (this.hosts.size === 1) return { host: this.main, model };
    const candidates = [...this.hosts.keys()].map((id) => `'${id}/${model}'`).join(', ');
    throw new LLMModelNotFoundError(`The model '${model}' does not say which provider it is asked of: ${candidates}.`, { path: 'model' });
  }

  /** Where a request may go after `route` failed. */
  after(route: Route): readonly Route[] {
    return this.fallbacks.filter(({ host }) => host !== route.host).map(({ host, model }) => ({ host, model: model ?? route.model }));
  }

  all(): readonly ProviderHost[] {
    return [...this.hosts.values()];
  }

  get(id: string): ProviderHost | undefined {
    return this.hosts.get(id);
  }

  private named(model: string): Route | undefined {
    const slash = model.indexOf('/');
    const host = this.hosts.get(slash === -1 ? model : model.slice(0, slash));
    if (host === undefined) return undefined;
    return { host, model: slash === -1 || slash === model.length - 1 ? undefined : model.slice(slash + 1) };
  }

  private fallbackOf(entry: FallbackEntry, createHost: (id: string, provider: ILLMProvider) => ProviderHost): Route {
    if (typeof entry === 'string') {
      const route = this.named(entry);
      if (route === undefined) throw wrong(`the fallback '${entry}' names no known provider`);
      return route;
    }
    const known = this.all().find(({ provider }) => provider === entry);
    return { host: known ?? createHost(entry.getProviderName(), entry), model: undefined };
  }
}

function idsOf({ provider, providers }: ProviderSet): readonly (readonly [string, ILLMProvider])[] {
  const listed = providers === undefined ? [] : isList(providers) ? providers.map(named) : Object.entries(providers);
  return provider === undefined ? listed : [named(provider), ...listed];
}

function named(provider: ILLMProvider): readonly [string, ILLMProvider] {
  return [provider.getProviderName(), provider];
}

function isList(providers: NonNullable<ProviderSet['providers']>): providers is readonly ILLMProvider[] {
  return Array.isArray(providers);
}

function wrong(message: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(message, { path: 'providers' });
}
