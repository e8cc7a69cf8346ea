import { isObject } from '../util/json';
import type { JsonObject } from '../types/VendorTypes';
import type { FunctionTool } from './Tool';

/** Returns a custom tool as a function with the one argument `input`, whose format its description states. */
export function customFunction({ name, description, format }: JsonObject): FunctionTool {
  const sentences = [typeof description === 'string' ? description : '', describeFormat(format)];
  return {
    type: 'function',
    name: String(name),
    description: sentences.filter((text) => text !== '').join('\n\n'),
    parameters: {
      type: 'object',
      properties: { input: { type: 'string', description: 'The complete input of the tool, as plain text.' } },
      required: ['input'],
      additionalProperties: false,
    },
  };
}

/** A model that cannot be held to a grammar can read it. */
function describeFormat(format: unknown): string {
  if (!isObject(format) || format.type !== 'grammar') return '';
  const { syntax, definition } = format;
  return `The input must match this ${String(syntax)} grammar:\n${String(definition)}`;
}
