/** A body against its vendor's schema, refused in the vendor's words with the path of what is wrong. */
import type { VendorName, WireName } from '../../business/ai/domain/types/VendorTypes';
import { hostOf } from '../hosts';
import type { SchemaName } from '../hosts';
import { isObject } from '../json';
import { refuse } from './Refusal';
import type { Refusal } from './Refusal';
import { topLevelNames, violationOf } from './schemas';

export function checkShape(
  vendor: VendorName,
  wire: WireName,
  body: unknown,
  schema: SchemaName | undefined = hostOf(vendor).schemas[wire],
): Refusal | undefined {
  if (schema === undefined) return refuse('This host does not speak that wire.', { status: 404 });
  if (!isObject(body)) return sayWrong(wire, [], 'Input should be an object');
  if (hostOf(vendor).refusesUnknownFields) {
    const unknown = Object.keys(body).find((name) => !topLevelNames(schema).has(name));
    if (unknown !== undefined) return sayUnknown(vendor, wire, [unknown]);
  }
  const violation = violationOf(schema, body);
  switch (violation?.problem) {
    case undefined:
      return undefined;
    case 'unknown':
      return sayUnknown(vendor, wire, violation.place);
    case 'missing':
      return sayMissing(wire, violation.place);
    case 'wrong':
      return sayWrong(wire, violation.place, violation.expected);
  }
}

type Place = readonly string[];

function sayUnknown(vendor: VendorName, wire: WireName, place: Place): Refusal {
  switch (wire) {
    case 'anthropic_messages':
      return refuse(`${place.join('.')}: Extra inputs are not permitted`);
    case 'gemini':
      return refuse(
        `Invalid JSON payload received. Unknown name "${place.at(-1) ?? ''}"${place.length > 1 ? ` at '${bracketed(place.slice(0, -1))}'` : ''}: Cannot find field.`,
      );
    case 'responses':
      return refuse(`Unknown parameter: '${bracketed(place)}'.`, {
        param: bracketed(place),
        code: 'unknown_parameter',
      });
    case 'chat_completions':
      if (vendor === 'groq') return refuse(`property '${bracketed(place)}' is unsupported`);
      return refuse(
        place.length > 1
          ? `Unknown parameter: '${bracketed(place)}'.`
          : `Unrecognized request argument supplied: ${bracketed(place)}`,
      );
  }
}

function sayMissing(wire: WireName, place: Place): Refusal {
  switch (wire) {
    case 'anthropic_messages':
      return refuse(`${place.join('.')}: Field required`);
    case 'gemini':
      return refuse(`* GenerateContentRequest.${bracketed(place)}: ${place.at(-1) ?? ''} is not specified\n`);
    case 'responses':
    case 'chat_completions':
      return refuse(`Missing required parameter: '${bracketed(place)}'.`, {
        param: bracketed(place),
        code: 'missing_required_parameter',
      });
  }
}

function sayWrong(wire: WireName, place: Place, what: string): Refusal {
  switch (wire) {
    case 'anthropic_messages':
      return refuse(`${place.join('.') || 'body'}: ${what}`);
    case 'gemini':
      if (place.at(-1) === 'role') return refuse('Please use a valid role: user, model.');
      return refuse(`Invalid value at '${bracketed(place)}': ${what}`);
    case 'responses':
    case 'chat_completions':
      return refuse(`Invalid value for '${bracketed(place)}': ${what}.`, {
        param: bracketed(place),
        code: 'invalid_value',
      });
  }
}

/** `messages[0].content` */
function bracketed(place: Place): string {
  return place.reduce(
    (path, step) => (/^\d+$/.test(step) ? `${path}[${step}]` : path === '' ? step : `${path}.${step}`),
    '',
  );
}
