/**
 * The models that a request names besides its own: those of tools, of moderation and of vector graphics, and those
 * that a host of many vendors may call instead. https://openrouter.ai/docs/features/model-routing,
 * https://docs.litellm.ai/docs/proxy/reliability
 */
import { foldName, isList, isObject } from '../../domain/util/json';
import type { NamedModel } from '../../domain/types/StoredObjects';
import type { JsonObject } from '../../domain/types/VendorTypes';
import { REQUEST_FIELDS } from './requestFields';
import type { RequestForm } from './storedObjectFields';

/** Fields that name models, alone, in lists, or as the fallbacks of others, such as `answering_model`. */
const NAME = /(?:^|_)(?:models?(?:_names?)?|fallbacks|agent)$/;
/** Fields by which a host chooses a model: OpenRouter's, and Vertex AI's. */
const CHOICE = /^(?:route|preset|routing_config|model_selection_config)$/;
/** What people and models say, and what they say it with. */
const CONTENT: ReadonlySet<string> = new Set([
  ...['messages', 'contents', 'system', 'system_instruction', 'instructions', 'prompt', 'metadata', 'labels', 'data'],
  ...['parameters', 'parameters_json_schema', 'input_schema', 'input_examples', 'schema', 'json_schema', 'functions'],
  ...['response_schema', 'response_json_schema', 'response_format', 'response', 'output_format', 'guided_json'],
  ...['prediction', 'documents', 'headers', 'user', 'stop', 'chat_template_kwargs'],
]);

const KNOWN = new Map<RequestForm, ReadonlySet<string>>(
  (Object.keys(REQUEST_FIELDS) as RequestForm[]).map((form) => [form, new Set<string>(REQUEST_FIELDS[form])]),
);
/** Fields of the request that choose a model, and are looked at in another way. */
const NAMED: ReadonlySet<string> = new Set(['plugins', 'compound_custom']);

/**
 * Names count in any case, as hosts read them that are written in Go, and with or without underscores.
 * @param forms the APIs that the request may be one of
 * @returns also the fields that are unknown: a host that knows them could choose a model by them
 */
export function findNamedModels(forms: readonly RequestForm[], request: JsonObject): readonly NamedModel[] {
  return Object.entries(request).flatMap(([field, value]) => {
    if (field === 'model' || value === null || value === undefined) return [];
    const found = modelsIn(field, value, field, 0);
    if (found.length > 0 || NAMED.has(field) || forms.some((form) => KNOWN.get(form)?.has(field))) return found;
    return [{ path: field }];
  });
}

/** @param field of a form */
export function isModelField(field: string): boolean {
  const name = nameOf(withoutIndex(field));
  return NAME.test(name) || CHOICE.test(name);
}

/** @param field of a form */
export function isKnownFormField(field: string): boolean {
  return KNOWN.get('media')?.has(withoutIndex(field)) === true;
}

function withoutIndex(field: string): string {
  return field.replace(/\[.*$/, '');
}

/** `modelName` is `model_name`. */
function nameOf(field: string): string {
  return foldName(field.replaceAll(/(?<=[a-z\d])[A-Z]/g, (letter) => `_${letter}`));
}

/** Deeper than any vendor reads. */
const MAX_DEPTH = 20;

function modelsIn(field: string, value: unknown, path: string, depth: number): readonly NamedModel[] {
  const name = nameOf(field);
  if (CHOICE.test(name)) return [{ path }];
  if (NAME.test(name)) return textsIn(value, path, depth);
  if (depth === MAX_DEPTH || CONTENT.has(name)) return [];
  if (name === 'input' && depth === 0) return isList(value) ? value.flatMap(toolsOfItem(path)) : [];
  return modelsBelow(value, path, depth);
}

function modelsBelow(value: unknown, path: string, depth: number): readonly NamedModel[] {
  if (isList(value)) return value.flatMap((each, index) => modelsBelow(each, `${path}[${index}]`, depth + 1));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([field, each]) => modelsIn(field, each, `${path}.${field}`, depth + 1));
}

/** Tools may come with the input. */
function toolsOfItem(path: string): (item: unknown, index: number) => readonly NamedModel[] {
  return (item, index) => (isObject(item) ? modelsBelow(item['tools'], `${path}[${index}].tools`, 1) : []);
}

function textsIn(value: unknown, path: string, depth: number): readonly NamedModel[] {
  if (typeof value === 'string') return [{ name: value, path }];
  if (depth >= MAX_DEPTH) return [];
  if (isList(value)) return value.flatMap((each, index) => textsIn(each, `${path}[${index}]`, depth + 1));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([field, each]) => textsIn(each, `${path}.${field}`, depth + 1));
}
