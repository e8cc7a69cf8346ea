/** What calls and their outputs have in common, in whichever form they were written. */
import { freeze, optionalBoolean, optionalText, otherFields, field } from './fields';
import { describe, isRecord, wrong } from './PlainReader';
import type { Plain, PlainRecord } from './PlainReader';
import type { FunctionCallItem, FunctionCallOutputItem } from '../../../domain/types/ResponsesAPITypes';

/** Arguments are a JSON text, as the model wrote it; an object becomes one, and none at all is an empty object. */
export function callArguments(value: Plain | undefined, path: string): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '{}';
  if (!isRecord(value)) throw wrong(path, `must be a JSON text or an object, not ${describe(value)}`);
  return JSON.stringify(value);
}

/** @param taken fields of `source` that `facts` already tells */
export function toolCall(
  source: PlainRecord,
  taken: readonly string[],
  path: string,
  facts: Pick<FunctionCallItem, 'call_id' | 'name' | 'arguments'>,
): FunctionCallItem {
  return freeze({
    type: 'function_call',
    ...otherFields(source, [...taken, 'type', 'status', 'async'], path),
    ...field('status', optionalText(source, 'status', path)),
    ...field('async', optionalBoolean(source, 'async', path)),
    ...facts,
  });
}

/** @param taken fields of `source` that `facts` already tells */
export function toolOutput(
  source: PlainRecord,
  taken: readonly string[],
  path: string,
  facts: Pick<FunctionCallOutputItem, 'call_id' | 'output'> & { readonly state?: string },
): FunctionCallOutputItem {
  return freeze({
    type: 'function_call_output',
    ...otherFields(source, [...taken, 'type', 'id', 'status', 'deferred', 'name', 'state'], path),
    ...field('id', optionalText(source, 'id', path)),
    ...field('status', optionalText(source, 'status', path)),
    ...field('deferred', optionalBoolean(source, 'deferred', path)),
    ...field('name', optionalText(source, 'name', path)),
    ...field('state', optionalText(source, 'state', path)),
    ...facts,
  });
}
