/** Checks a body against its vendor's schema, and rejects it in the vendor's words with the path of the violation. */
import type { VendorName, WireName } from '../../business/ai/domain/types/VendorTypes';
import { vendorProfile } from '../vendorProfiles';
import type { SchemaName } from '../vendorProfiles';
import { isObject } from '../json';
import { reject } from './Rejection';
import type { Rejection } from './Rejection';
import { topLevelFields, findViolation } from './requestSchemas';

export function checkSchema(
  vendor: VendorName,
  wire: WireName,
  body: unknown,
  schema: SchemaName | undefined = vendorProfile(vendor).schemas[wire],
): Rejection | undefined {
  if (schema === undefined) return reject('This vendor does not support this wire.', { status: 404 });
  if (!isObject(body)) return rejectInvalidValue(wire, [], 'Input should be an object');
  if (vendorProfile(vendor).rejectsUnknownFields) {
    const unknown = Object.keys(body).find((name) => !topLevelFields(schema).has(name));
    if (unknown !== undefined) return rejectUnknownField(vendor, wire, [unknown]);
  }
  const violation = findViolation(schema, body);
  switch (violation?.problem) {
    case undefined:
      return undefined;
    case 'unknown':
      return rejectUnknownField(vendor, wire, violation.path);
    case 'missing':
      return rejectMissingField(wire, violation.path);
    case 'wrong':
      return rejectInvalidValue(wire, violation.path, violation.expected);
  }
}

type Path = readonly string[];

function rejectUnknownField(vendor: VendorName, wire: WireName, path: Path): Rejection {
  switch (wire) {
    case 'anthropic_messages':
      return reject(`${path.join('.')}: Extra inputs are not permitted`);
    case 'gemini':
    case 'interactions':
      return reject(
        `Invalid JSON payload received. Unknown name "${path.at(-1) ?? ''}"${path.length > 1 ? ` at '${formatPath(path.slice(0, -1))}'` : ''}: Cannot find field.`,
      );
    case 'responses':
      return reject(`Unknown parameter: '${formatPath(path)}'.`, {
        param: formatPath(path),
        code: 'unknown_parameter',
      });
    case 'chat_completions':
      if (vendor === 'groq') return reject(`property '${formatPath(path)}' is unsupported`);
      return reject(
        path.length > 1
          ? `Unknown parameter: '${formatPath(path)}'.`
          : `Unrecognized request argument supplied: ${formatPath(path)}`,
      );
  }
}

function rejectMissingField(wire: WireName, path: Path): Rejection {
  switch (wire) {
    case 'anthropic_messages':
      return reject(`${path.join('.')}: Field required`);
    case 'gemini':
      return reject(`* GenerateContentRequest.${formatPath(path)}: ${path.at(-1) ?? ''} is not specified\n`);
    case 'interactions':
      return reject(`Missing required field '${formatPath(path)}'.`);
    case 'responses':
    case 'chat_completions':
      return reject(`Missing required parameter: '${formatPath(path)}'.`, {
        param: formatPath(path),
        code: 'missing_required_parameter',
      });
  }
}

function rejectInvalidValue(wire: WireName, path: Path, what: string): Rejection {
  switch (wire) {
    case 'anthropic_messages':
      return reject(`${path.join('.') || 'body'}: ${what}`);
    case 'gemini':
      if (path.at(-1) === 'role') return reject('Please use a valid role: user, model.');
      return reject(`Invalid value at '${formatPath(path)}': ${what}`);
    case 'interactions':
      return reject(`Invalid value at '${formatPath(path)}': ${what}`);
    case 'responses':
    case 'chat_completions':
      return reject(`Invalid value for '${formatPath(path)}': ${what}.`, {
        param: formatPath(path),
        code: 'invalid_value',
      });
  }
}

/** `messages[0].content` */
function formatPath(path: Path): string {
  return path.reduce((text, key) => (/^\d+$/.test(key) ? `${text}[${key}]` : text === '' ? key : `${text}.${key}`), '');
}
