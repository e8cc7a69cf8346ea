import { permitsModel } from '../../../domain/entities/modelPatterns';
import { LLMPermissionError } from '../../../domain/errors/LLMErrors';

/**
 * @param names by which the requested model is known
 * @param path where the request names it
 * @throws LLMPermissionError with the code that OpenAI's API has for such a model
 */
export function assertModelPermitted(
  { name, models }: { readonly name: string; readonly models?: readonly string[] },
  names: readonly string[],
  path = 'model',
): void {
  if (models === undefined || permitsModel(models, names)) return;
  throw new LLMPermissionError(
    `The API token "${name}" may not use the model "${names[0] ?? ''}". It may use: ${models.join(', ') || 'none'}.`,
    { path, vendorCode: 'model_not_found' },
  );
}
