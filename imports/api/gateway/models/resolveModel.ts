/** Selects the provider of a request by its model, the one field that clients of every API send. */
import { LLMModelNotFoundError } from '../../../business/ai/domain/errors/LLMErrors';
import type { VendorName } from '../../../business/ai/domain/types/VendorTypes';
import { isModelOf } from '../../../business/ai/infrastructure/vendors/capabilities';

/** What model resolution needs to know about a provider that the caller may use. */
export interface ModelCandidate {
  readonly id: string;
  readonly vendor: VendorName;
  readonly allowedModels?: readonly string[];
  readonly modelPatterns?: readonly string[];
}

export interface ModelRoute {
  readonly providerId: string;
  /** Absent: the provider's default. */
  readonly model?: string;
}

/**
 * A first path segment that is a provider's id takes precedence, then an exact match in `allowedModels`, then the only
 * provider whose patterns match.
 * @param providers those that the caller may use, the default one first
 * @throws LLMModelNotFoundError with the candidates
 */
export function resolveModel(requested: string | undefined, providers: readonly ModelCandidate[]): ModelRoute {
  const [first] = providers;
  if (first === undefined) throw new LLMModelNotFoundError('There is no provider that you may use.', { path: 'model' });
  if (requested === undefined) return { providerId: first.id };
  if (requested.length > MAX_NAME_LENGTH)
    throw new LLMModelNotFoundError(`A model's name has at most ${MAX_NAME_LENGTH} characters.`, { path: 'model' });
  const named = resolveByProviderId(requested, providers);
  if (named !== undefined) return named;
  const allowing = providers.find(({ allowedModels }) => allowedModels?.includes(requested));
  if (allowing !== undefined) return { providerId: allowing.id, model: requested };
  const open = providers.filter(({ allowedModels }) => allowedModels === undefined);
  const claiming = open.filter((provider) => matchesByName(provider, requested, providers.length === 1));
  const [only, another] = claiming;
  if (only !== undefined && another === undefined) return { providerId: only.id, model: requested };
  throw new LLMModelNotFoundError(
    `The model '${requested}' does not identify a provider. Use one of: ${candidates(claiming.length > 0 ? claiming : providers, requested)}.`,
    {
      path: 'model',
    },
  );
}

function resolveByProviderId(requested: string, providers: readonly ModelCandidate[]): ModelRoute | undefined {
  const slash = requested.indexOf('/');
  const id = slash === -1 ? requested : requested.slice(0, slash);
  const provider = providers.find((each) => each.id === id);
  if (provider === undefined) return undefined;
  const model = slash === -1 ? '' : requested.slice(slash + 1);
  if (model === '') return { providerId: id };
  if (provider.allowedModels?.includes(model) === false) {
    throw new LLMModelNotFoundError(
      `The provider '${id}' has no model '${model}'; it has ${candidates([provider], model)}.`,
      { path: 'model' },
    );
  }
  return { providerId: id, model };
}

/** A vendor that serves any model matches none by its name, unless it is the only candidate. */
function matchesByName({ vendor, modelPatterns }: ModelCandidate, model: string, isAlone: boolean): boolean {
  if (modelPatterns !== undefined) return modelPatterns.some((source) => new RegExp(source, 'i').test(model));
  return isAlone || isModelOf(vendor, model);
}

const MAX_NAME_LENGTH = 256;
const MAX_CANDIDATES = 20;

function candidates(providers: readonly ModelCandidate[], requested: string): string {
  const names = providers.flatMap(({ id, allowedModels = [requested] }) =>
    allowedModels.map((model) => `'${id}/${model}'`),
  );
  return `${names.slice(0, MAX_CANDIDATES).join(', ')}${names.length > MAX_CANDIDATES ? ', …' : ''}`;
}
