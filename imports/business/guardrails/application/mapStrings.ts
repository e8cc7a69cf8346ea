/** Replaces the texts in requests and responses, wherever they are, and leaves names, ids and opaque data alone. */
import { isList, isObject } from '../../ai/domain/util/json';
import type { JsonObject } from '../../ai/domain/types/VendorTypes';

export type MapText = (text: string) => string | Promise<string>;

/** Fields that hold no text of a person or a model. */
const OPAQUE_FIELDS =
  /^(?:type|id|.+_id|status|role|phase|name|model|modelVersion|object|detail|origin|signature|thought_?[sS]ignature|encrypted_content|data|file_data|image_url|file_url|fileUri|format|media_type|mimeType|system_fingerprint|finish_reason|finishReason|service_tier|tool_choice)$/;

/**
 * Texts below `arguments` are those in the JSON that it holds.
 * @returns the value itself if no text in it has changed
 */
export async function mapStrings<T>(value: T, map: MapText): Promise<T> {
  // Boundary: strings are replaced by strings, so that the type stays.
  return (await mapValue(value, map)) as T;
}

async function mapValue(value: unknown, map: MapText): Promise<unknown> {
  if (typeof value === 'string') return /^data:[^,]{0,200};base64,/.test(value) ? value : map(value);
  if (isList(value)) return mapList(value, (each) => mapValue(each, map));
  return isObject(value)
    ? mapFields(value, (field, each) => {
        if (OPAQUE_FIELDS.test(field)) return each;
        return field === 'arguments' && typeof each === 'string' ? mapJson(each, map) : mapValue(each, map);
      })
    : value;
}

/** Numbers and names of fields are texts, too. A text that is not JSON is replaced as a whole. */
export async function mapJson(text: string, map: MapText): Promise<string> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return map(text);
  }
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

async function mapList(list: readonly unknown[], map: (each: unknown) => unknown): Promise<readonly unknown[]> {
  const mapped: unknown[] = [];
  for (const each of list) mapped.push(await map(each));
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
