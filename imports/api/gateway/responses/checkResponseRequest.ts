/**
 * Validates the fields of a request by the rules of Open Responses.
 * https://www.openresponses.org, release 2026-04-24, "CreateResponseBody"
 */
import { LLMInvalidRequestError } from '../../../business/ai/domain/errors/LLMErrors';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { isObject } from '../../../business/ai/domain/util/json';

/** @returns what the value must be, or undefined if it is valid */
type Rule = (value: unknown) => string | undefined;

const MAX_INPUT_LENGTH = 10_485_760;

const RULES: Readonly<Record<string, Rule>> = {
  temperature: numberFrom(0, 2),
  top_p: numberFrom(0, 1),
  presence_penalty: numberFrom(-2, 2),
  frequency_penalty: numberFrom(-2, 2),
  max_output_tokens: wholeNumberFrom(16),
  max_tool_calls: wholeNumberFrom(1),
  top_logprobs: wholeNumberFrom(0, 20),
  safety_identifier: textUpTo(64),
  prompt_cache_key: textUpTo(64),
  service_tier: textUpTo(64),
  truncation: oneOf('auto', 'disabled'),
  stream: flag,
  store: flag,
  background: flag,
  parallel_tool_calls: flag,
  include: (value) =>
    Array.isArray(value) && value.every((entry) => typeof entry === 'string') ? undefined : 'must be a list of strings',
  input: (value) =>
    typeof value === 'string' && value.length > MAX_INPUT_LENGTH
      ? `must have at most ${MAX_INPUT_LENGTH} characters`
      : undefined,
  metadata: metadataRule,
  client_metadata: (value) => (isObject(value) ? undefined : 'must be an object'),
};

/**
 * Null counts as absent. Fields without a rule are validated by the readers of input, tools and formats.
 * @throws LLMInvalidRequestError with the field's name
 */
export function checkResponseRequest(body: unknown): asserts body is JsonObject {
  if (!isObject(body)) throw new LLMInvalidRequestError('The request body must be a JSON object.', { path: '' });
  for (const [field, rule] of Object.entries(RULES)) {
    const value = body[field];
    const problem = value === undefined || value === null ? undefined : rule(value);
    if (problem !== undefined) throw new LLMInvalidRequestError(`${field} ${problem}.`, { path: field });
  }
  checkInput(body);
  checkTools(body.tools);
  checkCallIds(body.input);
  if (body.background === true && body.store === false)
    throw new LLMInvalidRequestError('background requires store, because its response is retrieved later.', {
      path: 'store',
    });
  if (!isAbsent(body.conversation) && !isAbsent(body.previous_response_id))
    throw new LLMInvalidRequestError(
      "Mutually exclusive parameters: send either 'previous_response_id' or 'conversation', not both.",
      { vendorCode: 'mutually_exclusive_parameters' },
    );
}

/** Messages of Chat Completions may leave out their content if they have calls. */
function checkInput({ input, previous_response_id, conversation, prompt }: JsonObject): void {
  if (isAbsent(input) && isAbsent(previous_response_id) && isAbsent(conversation) && isAbsent(prompt))
    throw new LLMInvalidRequestError('input is required, unless previous_response_id, conversation or prompt is set.', {
      path: 'input',
    });
  if (!Array.isArray(input)) return;
  input.forEach((item: unknown, index) => {
    if (!isObject(item) || (item.type ?? (isAbsent(item.role) ? undefined : 'message')) !== 'message') return;
    if (isAbsent(item.content) && isAbsent(item.tool_calls))
      throw new LLMInvalidRequestError(`input[${index}].content is required in a message.`, {
        path: `input[${index}].content`,
      });
  });
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function checkTools(tools: unknown): void {
  if (!Array.isArray(tools)) return;
  tools.forEach((tool: unknown, index) => {
    if (!isObject(tool) || tool.type !== 'function') return;
    if (typeof tool.name === 'string' && /^[a-zA-Z0-9_-]{1,64}$/.test(tool.name)) return;
    throw new LLMInvalidRequestError(`tools[${index}].name must have 1 to 64 letters, digits, _ or -.`, {
      path: `tools[${index}].name`,
    });
  });
}

function checkCallIds(input: unknown): void {
  if (!Array.isArray(input)) return;
  input.forEach((item: unknown, index) => {
    if (!isObject(item) || (item.type !== 'function_call' && item.type !== 'function_call_output')) return;
    if (typeof item.call_id === 'string' && item.call_id.length >= 1 && item.call_id.length <= 64) return;
    throw new LLMInvalidRequestError(`input[${index}].call_id must have 1 to 64 characters.`, {
      path: `input[${index}].call_id`,
    });
  });
}

function numberFrom(least: number, most: number): Rule {
  return (value) =>
    typeof value === 'number' && value >= least && value <= most
      ? undefined
      : `must be a number from ${least} to ${most}`;
}

function wholeNumberFrom(least: number, most = Number.MAX_SAFE_INTEGER): Rule {
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  return (value) =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most
      ? undefined
      : `must be an integer ${range}`;
}

function textUpTo(most: number): Rule {
  return (value) =>
    typeof value === 'string' && value.length <= most ? undefined : `must be a string of at most ${most} characters`;
}

function oneOf(...values: readonly string[]): Rule {
  return (value) =>
    typeof value === 'string' && values.includes(value) ? undefined : `must be one of ${values.join(', ')}`;
}

function flag(value: unknown): string | undefined {
  return typeof value === 'boolean' ? undefined : 'must be true or false';
}

/** @throws LLMInvalidRequestError */
export function checkMetadata(metadata: unknown): asserts metadata is Readonly<Record<string, string>> {
  const problem = metadataRule(metadata);
  if (problem !== undefined) throw new LLMInvalidRequestError(`metadata ${problem}.`, { path: 'metadata' });
}

function metadataRule(value: unknown): string | undefined {
  if (!isObject(value)) return 'must be an object';
  const entries = Object.entries(value);
  if (entries.length > 16) return 'must have at most 16 entries';
  if (entries.some(([key]) => key.length > 64)) return 'must have keys of at most 64 characters';
  return entries.every(([, entry]) => typeof entry === 'string' && entry.length <= 512)
    ? undefined
    : 'must have strings of at most 512 characters as values';
}
