/** Names of models, `provider/model`, and the errors for those that lead nowhere. */
import { invalid } from '../business/ai/domain/arguments';
import { LLMModelNotFoundError } from '../business/ai/domain/errors/LLMErrors';
import type { VendorName } from '../business/ai/domain/types/VendorTypes';
import { VENDOR_VARIABLES } from '../startup/settings/vendors';

/** A provider and one of its models, or a provider alone: its default model. */
export type ModelName = `${VendorName}/${string}` | VendorName | (string & {});

/**
 * @param providers ids, the default one first
 * @returns the name in the form that the manager routes
 * @throws LLMModelNotFoundError that lists the providers, and names the variable that sets up a missing one
 */
export function resolveModelName(model: string | undefined, providers: readonly string[]): string {
  const [first] = providers;
  if (first === undefined)
    throw new LLMModelNotFoundError(`No provider is configured. ${HOW_TO_ADD}`, { path: 'model' });
  if (model === undefined) return first;
  const slash = model.indexOf('/');
  const id = slash === -1 ? model : model.slice(0, slash);
  if (providers.includes(id)) return model;
  const available = `Available: ${providers.join(', ')}.`;
  const variables = Object.hasOwn(VENDOR_VARIABLES, id) ? VENDOR_VARIABLES[id as VendorName] : undefined;
  if (variables !== undefined)
    throw new LLMModelNotFoundError(
      `The model "${model}" needs the provider "${id}", which is not configured. Set ${variables.key}. ${available}`,
      { path: 'model' },
    );
  if (slash === -1)
    throw new LLMModelNotFoundError(
      `The model "${model}" names no provider. Write it as "provider/model", such as "${first}/${model}". ${available}`,
      { path: 'model' },
    );
  throw new LLMModelNotFoundError(`Unknown provider "${id}" in the model "${model}". ${available} ${HOW_TO_ADD}`, {
    path: 'model',
  });
}

/** @throws LLMInvalidRequestError */
export function readModelName(value: unknown, path: string): string {
  if (typeof value === 'string' && /^[^\s\p{C}/][^\s\p{C}]{0,255}$/u.test(value)) return value;
  throw invalid(path, 'must be "provider/model" or "provider", without spaces');
}

const KEYS = Object.values(VENDOR_VARIABLES).map(({ key }) => key);
const HOW_TO_ADD = `To add a vendor, set its key: ${KEYS.join(', ')}.`;
