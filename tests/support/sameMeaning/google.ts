/**
 * generateContent requests reduced to what they mean, so that two ways to write the same compare equal. Only what
 * the JSON mapping of Protocol Buffers says is forgiven (https://protobuf.dev/programming-guides/json/): both
 * spellings of a field's name and both alphabets of bytes; and a content without a role, which is the user's. The
 * caller's own values (arguments, results, schemas) stay as they are.
 */
import { isObject } from '../../../imports/business/ai/domain/json';
import type { JsonObject } from '../../../imports/business/ai/domain/types/VendorTypes';

/** Fields whose value is data, not a message: names inside are the caller's. */
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
/** Fields that map names of the caller's to messages. */
const MAPS = new Set(['properties']);
const BYTES = new Set(['data', 'thoughtSignature']);

export function meaningOfGoogle(body: JsonObject): JsonObject {
  const meant = messageOf(body);
  return Array.isArray(meant.contents)
    ? { ...meant, contents: meant.contents.map((content: JsonObject) => ({ role: 'user', ...content })) }
    : meant;
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
