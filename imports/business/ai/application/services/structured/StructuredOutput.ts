/** A typed value from any model: asked for by schema, checked against the whole of it, repaired once. */
import { userMessage } from '../../../domain/entities/Message';
import { addUsage } from '../../../domain/entities/Response';
import { StructuredOutputError } from '../../../domain/errors/LLMErrors';
import type { ModelCapabilities } from '../../../domain/interfaces/ILLMProvider';
import type { GenerateOptions, ResponseFormat } from '../../../domain/types/LLMTypes';
import type { Item, LLMResponse, Usage } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import { toJsonSchema } from '../schema/AnySchema';
import type { AnySchema } from '../schema/AnySchema';
import { assertAnswered } from '../routing/assertAnswered';
import { normalizeInput } from '../ContentNormalizer';
import { DEFAULT_JSON_LIMITS, parseJsonAnswer } from './parseJsonAnswer';
import type { JsonLimits } from './parseJsonAnswer';
import { withoutOptionalNulls } from '../optionalNulls';
import type { ResolvedSchema, Validated } from '../schema/ResolvedSchema';
import { assertSchema, validate } from '../schema/SchemaValidator';
import type { Violation } from '../schema/SchemaViolations';

export interface ParseRules {
  /** Code fences and words around the JSON are tolerated: for models that can't be held to a schema. */
  readonly lenient: boolean;
  readonly limits?: JsonLimits;
}

export interface ModelAnswer {
  readonly response: LLMResponse;
  /** Everything up to the answer, and the answer. */
  readonly conversation: readonly Item[];
  /** Of all calls that led to the answer. */
  readonly usage: Usage;
}

export interface StructuredRequest<Output> {
  /** Asks the model until it answers, tools and retries included. */
  readonly ask: (options: GenerateOptions) => Promise<ModelAnswer>;
  readonly options: GenerateOptions;
  readonly schema: AnySchema<Output>;
  readonly capabilities: ModelCapabilities;
  readonly limits?: JsonLimits;
}

export interface StructuredAnswer<Output> {
  readonly value: Output;
  /** The answer that the value was read from. */
  readonly response: LLMResponse;
  /** With the repair's, if there was one. */
  readonly usage: Usage;
}

/**
 * Asks, checks, and where the answer breaks the schema asks once more, with the answer and what is wrong with it.
 * @throws LLMRefusalError, LLMContentFilterError, LLMIncompleteError for answers that are none, before anything
 *   is parsed
 * @throws StructuredOutputError when the second answer breaks the schema too, or the first is too large to be
 *   sent again
 */
export async function generateStructured<Output>(
  request: StructuredRequest<Output>,
): Promise<StructuredAnswer<Output>> {
  const schema = toJsonSchema(request.schema);
  assertSchema(schema.jsonSchema);
  const options = structuredOptions(request.options, schema.jsonSchema, request.capabilities);
  const rules: ParseRules = {
    lenient: !request.capabilities.supportsJSONSchema,
    limits: request.limits ?? DEFAULT_JSON_LIMITS,
  };

  const first = await request.ask(options);
  const read = await parseStructured(first.response, schema, rules);
  if (read.ok) return { value: read.value, response: first.response, usage: first.usage };
  if (first.response.output_text.length > MAX_REPAIRABLE_LENGTH) throw invalidOutput(first.response, read.violations);

  const second = await request.ask({ ...options, input: repairInput(first.conversation, read.violations) });
  const repaired = await parseStructured(second.response, schema, rules);
  if (!repaired.ok) throw invalidOutput(second.response, repaired.violations);
  return { value: repaired.value, response: second.response, usage: addUsage(first.usage, second.usage) };
}

/** What one call to a model gave, as an answer to `options`. */
export function modelAnswer(options: GenerateOptions, response: LLMResponse): ModelAnswer {
  return { response, conversation: [...normalizeInput(options.input), ...response.output], usage: response.usage };
}

/**
 * The value in an answer: its text parsed, held against the whole JSON Schema, then against the schema's own check,
 * whose output counts. A null where a property may be left out but not be null is read as left out.
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
  const violations = validate(schema.jsonSchema, value);
  if (violations.length > 0) {
    const repaired = withoutOptionalNulls(schema.jsonSchema, value);
    if (repaired === undefined) return { ok: false, violations };
    ({ value } = repaired);
  }
  if (schema.validate !== undefined) return schema.validate(value);
  // A plain JSON Schema has no type of its own: the caller's word for it is taken.
  return { ok: true, value: value as Output };
}

/**
 * The options with the schema as `response_format`, strict where the host can; models that can't be held to it are
 * told it in words.
 */
function structuredOptions(
  options: GenerateOptions,
  jsonSchema: JsonObject,
  capabilities: ModelCapabilities,
): GenerateOptions {
  const given = options.response_format?.type === 'json_schema' ? options.response_format : undefined;
  const response_format: ResponseFormat = {
    strict: true,
    ...given,
    type: 'json_schema',
    name: given?.name ?? nameOf(jsonSchema),
    schema: jsonSchema,
  };
  if (capabilities.supportsJSONSchema) return { ...options, response_format };
  const words = `Answer with one JSON value that is valid against this JSON Schema, and with nothing else:\n${JSON.stringify(jsonSchema)}`;
  return {
    ...options,
    response_format,
    instructions: options.instructions === undefined ? words : `${options.instructions}\n\n${words}`,
  };
}

/** The conversation, and what is wrong with its last answer. */
function repairInput(conversation: readonly Item[], violations: readonly Violation[]): readonly Item[] {
  const list = violations.map(({ path, message }) => `- ${path}: ${message}`).join('\n');
  const words = `Your answer does not match the required JSON Schema:\n${list}\nGive the whole answer again, corrected, as JSON and nothing else.`;
  return [...conversation, userMessage(words)];
}

/** Characters beyond which sending an answer back costs more than asking anew. */
const MAX_REPAIRABLE_LENGTH = 1024 * 1024;

/** What vendors allow in the name of a format. */
function nameOf(jsonSchema: JsonObject): string {
  const { title } = jsonSchema;
  const name = typeof title === 'string' ? title.replace(/[^a-zA-Z0-9_-]+/g, '_').slice(0, 64) : '';
  return name === '' ? 'answer' : name;
}

function invalidOutput(response: LLMResponse, violations: readonly Violation[]): StructuredOutputError {
  const [first] = violations;
  const more = violations.length > 1 ? ` (and ${violations.length - 1} more)` : '';
  const what = first === undefined ? 'the schema' : `the schema: ${first.path}: ${first.message}${more}`;
  return new StructuredOutputError(`The model's answer breaks ${what}.`, {
    violations,
    text: response.output_text,
    response,
    vendor: response.vendor.name,
  });
}
