/** Normalizes items that a server creates and reads back, and the origin of opaque content. */
import { field, freeze, optionalText, otherFields, record, requiredName } from './fields';
import { invalid } from './PlainReader';
import { SCHEME_OF_WIRE } from '../../../domain/types/VendorTypes';
import type { PlainRecord } from './PlainReader';
import type { HostedItem } from '../../../domain/types/ResponsesAPITypes';
import type { Origin } from '../../../domain/types/VendorTypes';

/** Preserves every field, and accepts types that are newer than this code. */
export function hostedItem(source: PlainRecord, path: string): HostedItem {
  originOf(source, path);
  optionalText(source, 'id', path);
  optionalText(source, 'status', path);
  // HostedItem is open to newer types.
  return freeze({ ...otherFields(source, [], path) }) as HostedItem;
}

export function originOf(source: PlainRecord, path: string): Origin | undefined {
  if (source.origin === undefined || source.origin === null) return undefined;
  const at = `${path}.origin`;
  const origin = record(source.origin, at);
  const wire = requiredName(origin, 'wire', at);
  if (!isWire(wire)) throw invalid(`${at}.wire`, `must be one of: ${Object.keys(SCHEME_OF_WIRE).join(', ')}`);
  return freeze({
    wire,
    ...field('vendor', optionalText(origin, 'vendor', at)),
    ...field('model', optionalText(origin, 'model', at)),
  });
}

function isWire(word: string): word is Origin['wire'] {
  return Object.hasOwn(SCHEME_OF_WIRE, word);
}
