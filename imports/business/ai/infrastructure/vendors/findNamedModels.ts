/**
 * The models that a request names besides its own: those of tools, and those that a host of many vendors may call
 * instead. https://openrouter.ai/docs/features/model-routing, https://docs.litellm.ai/docs/proxy/reliability
 */
import { fieldsOf, isList, isObject } from '../../domain/util/json';
import type { NamedModel } from '../../domain/types/StoredObjects';
import type { JsonObject } from '../../domain/types/VendorTypes';

/** Fields that name models, alone, in lists, or as the fallbacks of others. */
const NAMES: ReadonlySet<string> = new Set([
  'model',
  'models',
  'fallbacks',
  'context_window_fallbacks',
  'content_policy_fallbacks',
]);
/** OpenRouter's fields by which the host chooses a model. */
const CHOICES: ReadonlySet<string> = new Set(['route', 'preset']);
/** Fields whose values name models deeper down; `compound_custom` is Groq's. */
const HOLDERS: ReadonlySet<string> = new Set(['compound_custom', 'plugins', 'tools']);

/** Ignores case, as hosts that are written in Go do. */
export function findNamedModels(request: JsonObject): readonly NamedModel[] {
  return Object.entries(request).flatMap(([field, value]) => {
    const name = field.toLowerCase();
    if (field === 'model' || value === null || value === undefined) return [];
    if (CHOICES.has(name)) return [{ path: field }];
    if (NAMES.has(name)) return textsIn(value, field);
    if (HOLDERS.has(name)) return modelsBelow(value, field);
    if (name !== 'input' || !isList(value)) return [];
    return value.flatMap((item, index) => modelsBelow(fieldsOf(item)['tools'], `${field}[${index}].tools`));
  });
}

/** @param field of a form */
export function isModelField(field: string): boolean {
  const name = field.toLowerCase().replace(/\[.*$/, '');
  return NAMES.has(name) || CHOICES.has(name);
}

/** Deeper than any vendor reads. */
const MAX_DEPTH = 20;

function textsIn(value: unknown, path: string, depth = 0): readonly NamedModel[] {
  if (typeof value === 'string') return [{ name: value, path }];
  if (depth === MAX_DEPTH) return [];
  if (isList(value)) return value.flatMap((each, index) => textsIn(each, `${path}[${index}]`, depth + 1));
  return Object.entries(fieldsOf(value)).flatMap(([field, each]) => textsIn(each, `${path}.${field}`, depth + 1));
}

/** Finds the models of tools and plugins, nested ones included. */
function modelsBelow(value: unknown, path: string, depth = 0): readonly NamedModel[] {
  if (depth === MAX_DEPTH) return [];
  if (isList(value)) return value.flatMap((each, index) => modelsBelow(each, `${path}[${index}]`, depth + 1));
  if (!isObject(value)) return [];
  return [
    ...textsIn(value['model'], `${path}.model`),
    ...textsIn(value['models'], `${path}.models`),
    ...modelsBelow(value['tools'], `${path}.tools`, depth + 1),
  ];
}
