/**
 * Structured answers on the Messages API: its own output format where schema and model allow that, else one tool
 * whose input is the answer.
 */
import { toOutputSchema } from './outputSchema';
import { isObject } from '../../../../domain/json';
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
  /** A sentence for the operator's instructions. */
  readonly instruction?: string;
  readonly losses: readonly Loss[];
  readonly warnings: readonly string[];
}

const NO_STRUCTURE: StructuredOutput = { losses: [], warnings: [] };

const RESPONSE_TOOL = 'respond_with_json';
/** The input must be an object; any other answer stands in its one field. */
const VALUE_RESPONSE_TOOL = 'respond_with_json_value';

/**
 * @param isNative the model constrains its answer by a schema
 * @param taken names of the tools that are offered
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
          'response_format json_object is asked for by an instruction: this wire has no JSON mode without a schema',
        ],
      };
    case 'json_schema': {
      const accepted = isNative ? toOutputSchema(format.schema) : undefined;
      if (accepted === undefined) return viaResponseTool(format, taken);
      const losses = accepted.dropped.map(({ path, keyword }) => ({
        path: `response_format.schema${path}`,
        what: keyword,
        reason: 'the output format does not know it; the answer is checked against the full schema',
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
      `response_format json_schema is asked for by the tool ${name}: the model or the schema does not fit this wire's output format`,
    ],
  };
}

const ROOT_UNIONS = ['anyOf', 'oneOf', 'allOf'] as const;

/** References in the schema are written from its root, so its definitions stay there. */
function definitionsOf(schema: JsonObject): JsonObject {
  const { $defs, definitions } = schema;
  return { ...($defs === undefined ? {} : { $defs }), ...(definitions === undefined ? {} : { definitions }) };
}

function freeName(base: string, taken: ReadonlySet<string>): string {
  let name = base;
  for (let count = 2; taken.has(name); count += 1) name = `${base}_${count}`;
  return name;
}

/** The answer in the answer tool's input, as JSON text. */
export function responseToolText(name: string, input: unknown): string {
  const value = name.startsWith(VALUE_RESPONSE_TOOL) && isObject(input) && 'value' in input ? input.value : input;
  return JSON.stringify(value ?? {});
}
