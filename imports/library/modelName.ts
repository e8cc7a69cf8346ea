/** Names of models, `provider/model`, and the errors for those that lead nowhere. */
import { invalid } from '../business/ai/domain/util/arguments';
import { LLMModelNotFoundError } from '../business/ai/domain/errors/LLMErrors';
import type { VendorName } from '../business/ai/domain/types/VendorTypes';
import { VENDOR_VARIABLES } from '../host/settings/vendors';

/** A provider and one of its models, or a provider alone: its default model. */
export type ModelName = `${VendorName}/${string}` | VendorName | (string & {});

/**
 * @param providers ids, the default one first
 * @returns the name in the form that the manager routes
 * @throws LLMModelNotFoundError that lists the providers, and names the variable that sets up a missing one
 */
export function resolveModelName(model: string | undefined, providers: readonly string[]): string {
  const [first] = providers;
  const [id = ''] = model?.split('/') ?? [];
  if (model !== undefined && providers.includes(id)) return model;
  const available = first === undefined ? '' : ` Available: ${providers.join(', ')}.`;
  const variables = Object.hasOwn(VENDOR_VARIABLES, id) ? VENDOR_VARIABLES[id as VendorName] : undefined;
  if (variables !== undefined)
    throw notFound(
      `The model "${model}" needs the provider "${id}", which is not configured. Set ${variables.key}.${available}`,
    );
  if (first === undefined) throw notFound(`No provider is configured. ${HOW_TO_ADD}`);
  if (model === undefined) return first;
  if (id === model)
    throw notFound(
      `The model "${model}" names no provider. Write it as "provider/model", such as "${first}/${model}".${available}`,
    );
  throw notFound(`Unknown provider "${id}" in the model "${model}".${available} ${HOW_TO_ADD}`);
}

function notFound(message: string): LLMModelNotFoundError {
  return new LLMModelNotFoundError(message, { path: 'model' });
}

/** @throws LLMInvalidRequestError */
export function readModelName(value: unknown, path: string): string {
  if (typeof value === 'string' && /^[^\s\p{C}/][^\s\p{C}]{0,255}$/u.test(value)) return value;
  throw invalid(path, 'must be "provider/model" or "provider", without spaces');
}

const KEYS = Object.values(VENDOR_VARIABLES).map(({ key }) => key);
const HOW_TO_ADD = `To add a vendor, set its key: ${KEYS.join(', ')}.`;
