/** Masks the credentials in JSON that people receive. Texts of conversations are data, and stay as they are. */
import { isList, isObject } from './json';

/** @returns a copy. The values of credential fields are replaced, and of HTTP headers, whose names vary, all values. */
export function maskCredentials(value: unknown): unknown {
  if (isList(value)) return value.map(maskCredentials);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      if (CREDENTIAL.test(name)) return [name, typeof field === 'string' ? MASK : maskCredentials(field)];
      return [name, HEADERS.test(name) ? maskValues(field) : maskCredentials(field)];
    }),
  );
}

function maskValues(value: unknown): unknown {
  return isObject(value) ? Object.fromEntries(Object.keys(value).map((name) => [name, MASK])) : MASK;
}

const MASK = '[redacted]';
const CREDENTIAL =
  /^(?:x[-_])?(?:(?:proxy[-_]?)?authorization|api[-_]?key|(?:access|refresh|auth|bearer|id)[-_]?token|(?:client[-_]?)?secret|password|cookie)$/i;
const HEADERS = /^headers$/i;
