/** Replaces the texts in requests and responses, wherever they are, and leaves ids and opaque data alone. */
import { isList, isObject, readJson } from '../../ai/domain/util/json';
import type { JsonObject } from '../../ai/domain/types/VendorTypes';

export type MapText = (text: string) => string | Promise<string>;
/** @param path where the name is */
export type ReadName = (name: string, path: string) => void;

/** Fields with data that only a program reads, and addresses. */
const DATA_FIELDS =
  /^(?:signature|thought_?[sS]ignature|encrypted_content|file_data|image_url|file_url|fileUri|origin|authorization|headers|authorization_token)$/;
/** Fields whose texts are one of a few words, or the id of something. */
const OPAQUE_FIELDS =
  /^(?:type|id|.+_id|status|role|phase|model|modelVersion|object|detail|format|media_type|mimeType|system_fingerprint|finish_reason|finishReason|service_tier|mode)$/;
/** Fields whose texts mean something to a program as well: changed ones would not work. */
const NAME_FIELDS = /^(?:name|stop|stop_sequences|stopSequences|tool_choice)$/;
/** Fields of a request itself, of the same kind. */
const SETTINGS = /^(?:reasoning|promptCache)$/;
/** Fields below which texts are names, except for `PROSE_FIELDS`. */
const DEFINING_FIELDS =
  /^(?:tools|functions|function_?[dD]eclarations|tool_?[cC]hoice|response_format|output_format|json_schema|schema|parameters|input_schema|parametersJsonSchema|response_?(?:Json)?[sS]chema)$/;
const PROSE_FIELDS =
  /^(?:title|(?:server_)?description|instructions|\$comment|city|region|country|examples?|input_examples)$/;
/** Fields whose own fields have names of the caller's choice. */
const KEYED_FIELDS =
  /^(?:properties|patternProperties|dependent(?:Schemas|Required)|\$?defs|definitions|metadata|labels|variables)$/;

interface Walk {
  readonly map: MapText;
  readonly onName: ReadName;
}

interface Place {
  /** The field that holds the value, perhaps in a list. */
  readonly field: string;
  readonly path: string;
  readonly isDefinition: boolean;
}

/**
 * Texts below `arguments` are those in the JSON that it holds.
 * @param onName learns of names that are texts, too, and cannot be replaced
 * @returns the value itself if no text in it has changed
 */
export async function mapStrings<T>(value: T, map: MapText, onName: ReadName = () => undefined): Promise<T> {
  // Boundary: strings are replaced by strings, so that the type stays.
  return (await mapValue(value, { map, onName }, { field: '', path: '', isDefinition: false })) as T;
}

async function mapValue(value: unknown, walk: Walk, place: Place): Promise<unknown> {
  if (typeof value === 'string') return mapText(value, walk, place);
  if (isList(value))
    return mapList(value, (each, index) => mapValue(each, walk, { ...place, path: `${place.path}[${index}]` }));
  if (!isObject(value)) return value;
  const isKeyed = KEYED_FIELDS.test(place.field);
  return mapFields(value, (field, each) => {
    const path = place.path === '' ? field : `${place.path}.${field}`;
    if (isKeyed) walk.onName(field, path);
    // A field of the caller's choice means nothing.
    else if (DATA_FIELDS.test(field) || (field === 'data' && !isPlainText(value))) return each;
    if (field === 'arguments' && typeof each === 'string') return mapJson(each, walk.map);
    const isDefinition =
      place.isDefinition ||
      DEFINING_FIELDS.test(field) ||
      (place.path === '' && SETTINGS.test(field) && isObject(each));
    return mapValue(each, walk, { field: isKeyed && !isDefinition ? '' : field, path, isDefinition });
  });
}

/** A document of Anthropic's API whose data is its text. */
function isPlainText({ type }: JsonObject): boolean {
  return type === 'text';
}

async function mapText(text: string, { map, onName }: Walk, { field, path, isDefinition }: Place): Promise<string> {
  if (/^data:[^,]{0,200};base64,/.test(text) || OPAQUE_FIELDS.test(field)) return text;
  if (!NAME_FIELDS.test(field) && (!isDefinition || PROSE_FIELDS.test(field))) return map(text);
  onName(text, path);
  return text;
}

/** Numbers and names of fields are texts, too. A text that is not JSON is replaced as a whole. */
export async function mapJson(text: string, map: MapText): Promise<string> {
  const value = readJson(text);
  if (value === undefined) return map(text);
  const mapped = await mapJsonValue(value, map);
  return mapped === value ? text : JSON.stringify(mapped);
}

async function mapJsonValue(value: unknown, map: MapText): Promise<unknown> {
  if (typeof value === 'string') return map(value);
  if (typeof value === 'number') {
    const text = String(value);
    const mapped = await map(text);
    return mapped === text ? value : mapped;
  }
  if (isList(value)) return mapList(value, (each) => mapJsonValue(each, map));
  if (!isObject(value)) return value;
  const entries: [string, unknown][] = [];
  let isSame = true;
  for (const [field, each] of Object.entries(value)) {
    const entry: [string, unknown] = [await map(field), await mapJsonValue(each, map)];
    isSame &&= entry[0] === field && entry[1] === each;
    entries.push(entry);
  }
  return isSame ? value : Object.fromEntries(entries);
}

async function mapList(
  list: readonly unknown[],
  map: (each: unknown, index: number) => unknown,
): Promise<readonly unknown[]> {
  const mapped: unknown[] = [];
  for (const [index, each] of list.entries()) mapped.push(await map(each, index));
  return mapped.every((each, index) => each === list[index]) ? list : mapped;
}

async function mapFields(object: JsonObject, map: (field: string, each: unknown) => unknown): Promise<JsonObject> {
  let mapped: JsonObject | undefined;
  for (const [field, each] of Object.entries(object)) {
    const replaced = await map(field, each);
    if (replaced !== each) mapped = { ...(mapped ?? object), [field]: replaced };
  }
  return mapped ?? object;
}
