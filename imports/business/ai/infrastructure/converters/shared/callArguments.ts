/** Parses the arguments of a tool call for wires that transport them as an object instead of JSON text. */
import { isObject } from '../../../domain/util/json';
import type { FunctionCallItem } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';

export interface ParsedArguments {
  readonly value: JsonObject;
  /** The model wrote something other than a JSON object; `value` holds its text under `arguments`. */
  readonly malformed: boolean;
}

export function parseArguments(item: Pick<FunctionCallItem, 'arguments'>): ParsedArguments {
  if (item.arguments.trim() === '') return { value: {}, malformed: false };
  try {
    const value: unknown = JSON.parse(item.arguments);
    if (isObject(value)) return { value, malformed: false };
  } catch {
    // The raw text is passed along below, so that the model sees what it wrote.
  }
  return { value: { arguments: item.arguments }, malformed: true };
}
