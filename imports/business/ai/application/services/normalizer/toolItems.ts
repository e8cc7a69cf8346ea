/** Builds tool calls and their outputs from any accepted form. */
import { freeze, optionalBoolean, optionalText, otherFields, field } from './fields';
import { describe, isRecord, invalid } from './PlainReader';
import type { Plain, PlainRecord } from './PlainReader';
import type { FunctionCallItem, FunctionCallOutputItem } from '../../../domain/types/ResponsesAPITypes';

/**
 * Arguments are JSON text, exactly as the model wrote it. An object is serialized, and missing arguments become an
 * empty object.
 */
export function callArguments(value: Plain | undefined, path: string): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '{}';
  if (!isRecord(value)) throw invalid(path, `must be a JSON text or an object, not ${describe(value)}`);
  return JSON.stringify(value);
}

/** @param taken fields of `source` that are already in `fields` */
export function toolCall(
  source: PlainRecord,
  taken: readonly string[],
  path: string,
  fields: Pick<FunctionCallItem, 'call_id' | 'name' | 'arguments'>,
): FunctionCallItem {
  return freeze({
    type: 'function_call',
    ...otherFields(source, [...taken, 'type', 'status', 'async'], path),
    ...field('status', optionalText(source, 'status', path)),
    ...field('async', optionalBoolean(source, 'async', path)),
    ...fields,
  });
}

/** @param taken fields of `source` that are already in `fields` */
export function toolOutput(
  source: PlainRecord,
  taken: readonly string[],
  path: string,
  fields: Pick<FunctionCallOutputItem, 'call_id' | 'output'> & { readonly state?: string },
): FunctionCallOutputItem {
  return freeze({
    type: 'function_call_output',
    ...otherFields(source, [...taken, 'type', 'id', 'status', 'deferred', 'name', 'state'], path),
    ...field('id', optionalText(source, 'id', path)),
    ...field('status', optionalText(source, 'status', path)),
    ...field('deferred', optionalBoolean(source, 'deferred', path)),
    ...field('name', optionalText(source, 'name', path)),
    ...field('state', optionalText(source, 'state', path)),
    ...fields,
  });
}
