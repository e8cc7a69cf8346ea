/**
 * Normalizes generateContent requests, so that equivalent ones compare equal. Ignored are only the alternatives of the
 * JSON mapping of Protocol Buffers (https://protobuf.dev/programming-guides/json/), both spellings of field names and
 * both base64 alphabets, and a missing role, which means the user's. The caller's own values (arguments, results,
 * schemas) stay unchanged.
 */
import { isObject } from '../../../imports/business/ai/domain/util/json';
import type { JsonObject } from '../../../imports/business/ai/domain/types/VendorTypes';

/** Fields whose value is the caller's data instead of a message. */
const DATA = new Set([
  'args',
  'parametersJsonSchema',
  'responseJsonSchema',
  'partMetadata',
  'labels',
  'metadata',
  'default',
  'example',
]);
/** Fields that map the caller's names to messages. */
const MAPS = new Set(['properties']);
const BYTES = new Set(['data', 'thoughtSignature']);

export function meaningOfGoogle(body: JsonObject): JsonObject {
  const normalized = messageOf(body);
  return Array.isArray(normalized.contents)
    ? { ...normalized, contents: normalized.contents.map((content: JsonObject) => ({ role: 'user', ...content })) }
    : normalized;
}

function messageOf(message: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(message).map(([name, value]) => {
      const field = name.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase());
      return [field, valueOf(field, value, message)];
    }),
  );
}

function valueOf(field: string, value: unknown, message: JsonObject): unknown {
  if (DATA.has(field) || (field === 'response' && !('parameters' in message) && !('description' in message)))
    return value;
  if (BYTES.has(field) && typeof value === 'string')
    return value.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '');
  if (Array.isArray(value)) return value.map((one) => (isObject(one) ? messageOf(one) : (one as unknown)));
  if (!isObject(value)) return value;
  return MAPS.has(field)
    ? Object.fromEntries(Object.entries(value).map(([name, one]) => [name, isObject(one) ? messageOf(one) : one]))
    : messageOf(value);
}
