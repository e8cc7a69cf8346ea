/** Gets a typed value from any model: requests it by schema, validates it fully, and has the model correct it once. */
import { userMessage } from '../../../domain/entities/Message';
import { addUsage } from '../../../domain/entities/Response';
import { StructuredOutputError } from '../../../domain/errors/LLMErrors';
import type { ModelCapabilities } from '../../../domain/interfaces/ILLMProvider';
import type { GenerateOptions, ResponseFormat } from '../../../domain/types/LLMTypes';
import type { Item, LLMResponse, Usage } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import { toJsonSchema } from '../schema/toJsonSchema';
import type { AnySchema } from '../../../domain/types/Schemas';
import { assertAnswered } from '../../../domain/errors/assertAnswered';
import type { ModelAnswer } from '../routing/completeTurn';
import { DEFAULT_JSON_LIMITS, parseJsonAnswer } from './parseJsonAnswer';
import type { JsonLimits } from './parseJsonAnswer';
import type { ResolvedSchema, Validated } from '../schema/ResolvedSchema';
import { assertSchema, assertUntrustedSchema, checkValue } from '../schema/checkSchema';
import type { Violation } from '../schema/SchemaViolations';

export interface ParseRules {
  /** Accepts code fences and text around the JSON: for models that cannot be constrained to a schema. */
  readonly lenient: boolean;
  readonly limits?: JsonLimits;
  /** The user who brought the schema. Absent: it is the program's own. */
  readonly schemaOf?: string | undefined;
}

export interface StructuredRequest<Output> {
  /** Calls the model until it answers, tools and retries included. */
  readonly generate: (options: GenerateOptions) => Promise<ModelAnswer>;
  readonly options: GenerateOptions;
  readonly schema: AnySchema<Output>;
  /** The user who brought the schema. Absent: it is the program's own. */
  readonly schemaOf?: string;
  readonly capabilities: ModelCapabilities;
  readonly limits?: JsonLimits;
}

export interface StructuredResult<Output> {
  readonly value: Output;
  /** The response that the value was parsed from. */
  readonly response: LLMResponse;
  /** The usage of all calls, a correction included. */
  readonly usage: Usage;
}

/**
 * Calls the model and validates its value. An invalid value is sent back once, with its violations, for correction.
 * @throws LLMRefusalError, LLMContentFilterError, LLMIncompleteError before anything is parsed
 * @throws StructuredOutputError if the corrected value is invalid too, or the first one is too large to be sent back
 */
export async function generateStructured<Output>(
  request: StructuredRequest<Output>,
): Promise<StructuredResult<Output>> {
  const schema = toJsonSchema(request.schema);
  const { schemaOf } = request;
  if (schemaOf === undefined) assertSchema(schema.jsonSchema);
  else await assertUntrustedSchema(schema.jsonSchema, schemaOf);
  const options = structuredOptions(request.options, schema.jsonSchema, request.capabilities);
  const rules: ParseRules = {
    lenient: !request.capabilities.supportsJSONSchema,
    limits: request.limits ?? DEFAULT_JSON_LIMITS,
    schemaOf,
  };

  const first = await request.generate(options);
  const read = await parseStructured(first.response, schema, rules);
  if (read.ok) return { value: read.value, response: first.response, usage: first.usage };
  if (first.response.output_text.length > MAX_REPAIRABLE_LENGTH) throw invalidOutput(first.response, read.violations);

  const second = await request.generate({ ...options, input: repairInput(first.conversation, read.violations) });
  const repaired = await parseStructured(second.response, schema, rules);
  if (!repaired.ok) throw invalidOutput(second.response, repaired.violations);
  return { value: repaired.value, response: second.response, usage: addUsage(first.usage, second.usage) };
}

/**
 * Parses a response's text and validates it, first against the JSON Schema, then by the schema's own validation, whose
 * output is the value: a Standard Schema may accept what violates its JSON Schema, such as "7" for `z.coerce.number()`.
 * A null in place of an optional property that must not be null counts as omitted.
 * @throws StructuredOutputError if the schema's own validation throws
 * @throws LLMRefusalError, LLMContentFilterError, LLMIncompleteError as `assertAnswered` does
 */
export async function parseStructured<Output>(
  response: LLMResponse,
  schema: ResolvedSchema<Output>,
  rules: ParseRules,
): Promise<Validated<Output>> {
  const answer = parseJsonAnswer(assertAnswered(response).output_text, rules.lenient, rules.limits);
  if (!answer.ok) return { ok: false, violations: [answer.violation] };
  let { value } = answer;
  const { schemaOf } = rules;
  const checked = { schema: schema.jsonSchema, untrusted: schemaOf !== undefined, userId: schemaOf ?? '' };
  const { violations, repaired, isUnfinished } = await checkValue(checked, value, true);
  const isViolated = violations.length > 0 && repaired === undefined;
  // What takes too long to validate must not be validated on the event loop.
  if (isViolated && (schema.converts !== true || isUnfinished === true)) return { ok: false, violations };
  if (repaired !== undefined) ({ value } = repaired);
  if (schema.validate !== undefined) {
    const validated = await schema.validate(value).catch((cause: unknown) => {
      throw new StructuredOutputError('The schema’s own validation threw an error: see "cause".', {
        ...{ cause, response, vendor: response.vendor.name, text: response.output_text },
        violations: [{ path: '$', message: 'could not be validated' }],
      });
    });
    return isViolated && !validated.ok ? { ok: false, violations } : validated;
  }
  // A plain JSON Schema carries no type: the caller's type argument is trusted.
  return { ok: true, value: value as Output };
}

/**
 * The options with the schema as `response_format`. Models that cannot be constrained to it get it in the instructions
 * too.
 */
export function structuredOptions<O extends Pick<GenerateOptions, 'instructions' | 'response_format'>>(
  options: O,
  jsonSchema: JsonObject,
  capabilities: ModelCapabilities,
): O & Pick<GenerateOptions, 'instructions' | 'response_format'> {
  const given = options.response_format?.type === 'json_schema' ? options.response_format : undefined;
  const response_format: ResponseFormat = {
    strict: true,
    ...given,
    type: 'json_schema',
    name: given?.name ?? nameOf(jsonSchema),
    schema: jsonSchema,
  };
  if (capabilities.supportsJSONSchema) return { ...options, response_format };
  const schemaInstructions = `Answer with one JSON value that is valid against this JSON Schema, and with nothing else:\n${JSON.stringify(jsonSchema)}`;
  return {
    ...options,
    response_format,
    instructions:
      options.instructions === undefined ? schemaInstructions : `${options.instructions}\n\n${schemaInstructions}`,
  };
}

/** The conversation and a message that lists the violations. */
function repairInput(conversation: readonly Item[], violations: readonly Violation[]): readonly Item[] {
  const list = violations.map(({ path, message }) => `- ${path}: ${message}`).join('\n');
  const message = `Your answer does not match the required JSON Schema:\n${list}\nGive the whole answer again, corrected, as JSON and nothing else.`;
  return [...conversation, userMessage(message)];
}

/** In characters. Sending a longer answer back costs more than a new request. */
const MAX_REPAIRABLE_LENGTH = 1024 * 1024;

/** Vendors allow 1 to 64 letters, digits, `_` and `-` in the name of a format. */
function nameOf(jsonSchema: JsonObject): string {
  const { title } = jsonSchema;
  const name = typeof title === 'string' ? title.replace(/[^a-zA-Z0-9_-]+/g, '_').slice(0, 64) : '';
  return name === '' ? 'answer' : name;
}

function invalidOutput(response: LLMResponse, violations: readonly Violation[]): StructuredOutputError {
  const [first] = violations;
  const more = violations.length > 1 ? ` (and ${violations.length - 1} more)` : '';
  const detail = first === undefined ? '' : `: ${first.path}: ${first.message}${more}`;
  return new StructuredOutputError(`The model's answer violates the schema${detail}.`, {
    violations,
    text: response.output_text,
    response,
    vendor: response.vendor.name,
  });
}
