/**
 * Structured output on the Messages API: its own output format if the schema and the model support that, otherwise a
 * tool whose input is the response.
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs
 */
import { toOutputSchema } from './outputSchema';
import { isObject } from '../../../../domain/util/json';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { ResponseFormat } from '../../../../domain/types/LLMTypes';
import type { JsonObject, Loss } from '../../../../domain/types/VendorTypes';

export interface ResponseTool {
  readonly name: string;
  readonly tool: JsonObject;
}

export interface StructuredOutput {
  /** `output_config.format`. */
  readonly format?: JsonObject;
  readonly tool?: ResponseTool;
  /** A sentence for the system prompt. */
  readonly instruction?: string;
  readonly losses: readonly Loss[];
  readonly warnings: readonly string[];
}

const NO_STRUCTURE: StructuredOutput = { losses: [], warnings: [] };

const RESPONSE_TOOL = 'respond_with_json';
/** A tool's input must be an object, so any other value is wrapped in a single field. */
const VALUE_RESPONSE_TOOL = 'respond_with_json_value';

/**
 * @param isNative whether the model supports schemas in its output format
 * @param taken names of the offered tools
 */
export function toStructuredOutput(
  format: ResponseFormat | undefined,
  isNative: boolean,
  taken: ReadonlySet<string>,
): StructuredOutput {
  switch (format?.type) {
    case undefined:
    case 'text':
      return NO_STRUCTURE;
    case 'json_object':
      return {
        ...NO_STRUCTURE,
        instruction: 'Answer with one JSON object and nothing else: no prose around it, no code fence.',
        warnings: [
          'response_format json_object is requested by an instruction: the Messages API has no JSON mode without a schema.',
        ],
      };
    case 'json_schema': {
      const accepted = isNative ? toOutputSchema(format.schema) : undefined;
      if (accepted === undefined) return viaResponseTool(format, taken);
      const losses = accepted.dropped.map(({ path, keyword }) => ({
        path: `response_format.schema${path}`,
        what: keyword,
        reason: 'The output format does not support this keyword. The response is validated against the full schema.',
      }));
      return { format: { type: 'json_schema', schema: accepted.schema }, losses, warnings: [] };
    }
  }
}

function viaResponseTool(
  format: Extract<ResponseFormat, { type: 'json_schema' }>,
  taken: ReadonlySet<string>,
): StructuredOutput {
  const isObjectSchema = format.schema.type === 'object' && !ROOT_UNIONS.some((keyword) => keyword in format.schema);
  const name = freeName(isObjectSchema ? RESPONSE_TOOL : VALUE_RESPONSE_TOOL, taken);
  const input_schema = isObjectSchema
    ? format.schema
    : { type: 'object', properties: { value: format.schema }, required: ['value'], ...definitionsOf(format.schema) };
  const about = format.description ?? format.name;
  return {
    tool: {
      name,
      tool: { name, description: `Gives the final answer${about === undefined ? '' : ` (${about})`}.`, input_schema },
    },
    instruction: `Give your final answer by calling the tool ${name} once. Write no text instead of that call.`,
    losses: [],
    warnings: [
      `response_format json_schema is requested by the tool "${name}": the output format does not support this model or schema.`,
    ],
  };
}

const ROOT_UNIONS = ['anyOf', 'oneOf', 'allOf'] as const;

/** References are relative to the root of the schema, so its definitions must remain there. */
function definitionsOf(schema: JsonObject): JsonObject {
  const { $defs, definitions } = schema;
  return omitUndefined({ $defs, definitions });
}

function freeName(base: string, taken: ReadonlySet<string>): string {
  let name = base;
  for (let count = 2; taken.has(name); count += 1) name = `${base}_${count}`;
  return name;
}

/** Whether the response tool's input has the response in a field. */
export function wrapsValue(name: string): boolean {
  return name.startsWith(VALUE_RESPONSE_TOOL);
}

/** Returns the response contained in the response tool's input, as JSON text. */
export function responseToolText(name: string, input: unknown): string {
  const value = wrapsValue(name) && isObject(input) && 'value' in input ? input.value : input;
  return JSON.stringify(value ?? {});
}
