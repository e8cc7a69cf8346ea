/** Which provider a request goes to, and which ones it may fall back to. */
import { LLMInvalidRequestError, LLMModelNotFoundError } from '../../../domain/errors/LLMErrors';
import type { ILLMProvider } from '../../../domain/interfaces/ILLMProvider';
import type { ProviderDirectory } from '../../../domain/interfaces/ProviderDirectory';
import type { ProviderTarget } from './ProviderTarget';

/**
 * A provider's id, `providerId/model`, or a provider that is not routed to otherwise. Without a model the request's
 * own is asked for.
 */
export type FallbackEntry = string | ILLMProvider;

export interface Route {
  readonly target: ProviderTarget;
  /** Without the provider's id; absent: the provider's default. */
  readonly model: string | undefined;
}

export interface ProviderSet {
  /** The only one. */
  readonly provider?: ILLMProvider;
  /** By id; a list by `getProviderName()`. The first is the default. */
  readonly providers?: Readonly<Record<string, ILLMProvider>> | readonly ILLMProvider[];
  /** Those that come and go, after the others. */
  readonly directory?: ProviderDirectory;
  /** In the order in which they are asked. */
  readonly fallback?: readonly FallbackEntry[];
}

type CreateHost = (id: string, provider: ILLMProvider) => ProviderTarget;

export class ProviderRouter {
  private readonly targets = new Map<string, ProviderTarget>();
  /** Of the directory's providers, as they were asked last. */
  private readonly dynamic = new Map<string, ProviderTarget>();
  private readonly directory: ProviderDirectory | undefined;
  private readonly createTarget: CreateHost;
  private readonly fallbacks: readonly { readonly target: ProviderTarget; readonly model: string | undefined }[];

  /**
   * @throws LLMInvalidRequestError for an empty set without a directory, an id that is empty, doubled or holds a
   * slash, and an unknown fallback
   */
  constructor(set: ProviderSet, createTarget: CreateHost) {
    this.directory = set.directory;
    this.createTarget = createTarget;
    for (const [id, provider] of idsOf(set)) {
      if (id === '' || id.includes('/')) throw wrong(`a provider's id must be a word without slashes, not '${id}'`);
      if (this.targets.has(id)) throw wrong(`two providers have the id '${id}'`);
      this.targets.set(id, createTarget(id, provider));
    }
    if (this.targets.size === 0 && this.directory === undefined) throw wrong('at least one provider is needed');
    this.fallbacks = (set.fallback ?? []).map((entry) => this.fallbackOf(entry));
  }

  /** Who is asked when nobody is named. @throws LLMModelNotFoundError while there is no provider */
  get defaultTarget(): ProviderTarget {
    const [main] = this.all();
    if (main === undefined) throw new LLMModelNotFoundError('There is no provider yet.', { path: 'model' });
    return main;
  }

  /**
   * `providerId/model` and `providerId` go to that provider; without a model the first one is asked; anything else
   * goes to the only provider there is.
   * @throws LLMModelNotFoundError with the candidates
   */
  resolve(model: string | undefined): Route {
    if (model === undefined) return { target: this.defaultTarget, model };
    const route = this.named(model);
    if (route !== undefined) return route;
    const all = this.all();
    const [only, another] = all;
    if (only !== undefined && another === undefined) return { target: only, model };
    const candidates = all.map(({ id }) => `'${id}/${model}'`).join(', ');
    throw new LLMModelNotFoundError(`The model '${model}' does not say which provider it is asked of: ${candidates}.`, {
      path: 'model',
    });
  }

  /** Where a request may go after `route` failed. */
  after(route: Route): readonly Route[] {
    return this.fallbacks
      .filter(({ target }) => target !== route.target)
      .map(({ target, model }) => ({ target, model: model ?? route.model }));
  }

  all(): readonly ProviderTarget[] {
    const passing = [...(this.directory?.keys() ?? [])]
      .filter((id) => !this.targets.has(id))
      .map((id) => this.dynamicTarget(id));
    return [...this.targets.values(), ...passing.filter((target) => target !== undefined)];
  }

  get(id: string): ProviderTarget | undefined {
    return this.targets.get(id) ?? this.dynamicTarget(id);
  }

  /** Looks for a provider that was unknown until now. */
  async refresh(): Promise<void> {
    await this.directory?.refresh();
  }

  /** Its budget and circuit are those of one place: a provider that moved begins anew. */
  private dynamicTarget(id: string): ProviderTarget | undefined {
    const provider = this.directory?.get(id);
    if (provider === undefined) {
      this.dynamic.delete(id);
      return undefined;
    }
    const known = this.dynamic.get(id);
    if (known?.provider === provider) return known;
    const target = this.createTarget(id, provider);
    this.dynamic.set(id, target);
    return target;
  }

  private named(model: string): Route | undefined {
    const slash = model.indexOf('/');
    const target = this.get(slash === -1 ? model : model.slice(0, slash));
    if (target === undefined) return undefined;
    return { target, model: slash === -1 || slash === model.length - 1 ? undefined : model.slice(slash + 1) };
  }

  private fallbackOf(entry: FallbackEntry): Route {
    if (typeof entry === 'string') {
      const route = this.named(entry);
      if (route === undefined) throw wrong(`the fallback '${entry}' names no known provider`);
      return route;
    }
    const known = this.all().find(({ provider }) => provider === entry);
    return { target: known ?? this.createTarget(entry.getProviderName(), entry), model: undefined };
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
