/** Masks the credentials in JSON that people receive. Texts of conversations are data, and stay as they are. */
import { REDACTED } from './safeText';
import { isList, isObject } from '../util/json';

/** @returns a copy. The values of credential fields are replaced, and of HTTP headers, whose names vary, all values. */
export function maskCredentials(value: unknown): unknown {
  return maskField('', value);
}

function maskField(name: string, value: unknown): unknown {
  if (isHeadersField(name)) return maskValues(value);
  if (typeof value === 'string') return isCredentialField(name) ? REDACTED : value;
  if (isList(value)) return value.map((each) => maskField(name, each));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([field, each]) => [field, maskField(field, each)]));
}

/** Whether the texts in a field of this name are credentials. */
export function isCredentialField(name: string): boolean {
  return CREDENTIAL.test(name);
}

/** Whether a field of this name holds HTTP headers. Those of MCP servers hold credentials under any name. */
export function isHeadersField(name: string): boolean {
  return HEADERS.test(name);
}

/** @returns the object with each value replaced, or a mask for what is not an object */
export function maskValues(value: unknown): unknown {
  return isObject(value) ? Object.fromEntries(Object.keys(value).map((name) => [name, REDACTED])) : REDACTED;
}

const CREDENTIAL =
  /^(?:x[-_])?(?:(?:proxy[-_]?)?authorization|api[-_]?key|(?:access|refresh|auth|authorization|bearer|id)[-_]?token|(?:client[-_]?)?secret|password|cookie)$/i;
const HEADERS = /^headers$/i;
