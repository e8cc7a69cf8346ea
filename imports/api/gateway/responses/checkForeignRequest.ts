/**
 * Checks values that only OpenAI's API defines, in requests for vendors of other APIs: these would never see them, so
 * nonsense would pass without notice. OpenAI checks them itself, newer ones included.
 * https://platform.openai.com/docs/api-reference/responses/create
 */
import { LLMInvalidRequestError } from '../../../business/ai/domain/errors/LLMErrors';
import { fieldsOf, isList, isObject } from '../../../business/ai/domain/util/json';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';

const FORMATS = ['text', 'json_object', 'json_schema', 'grammar'];
const VERBOSITIES = ['low', 'medium', 'high'];
/** `default` is Groq's. */
const EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'default'];
const SUMMARIES = ['auto', 'concise', 'detailed'];
const SERVICE_TIERS = ['auto', 'default', 'flex', 'scale', 'priority', 'fast', 'ultrafast'];
const DETAILS = ['low', 'high', 'auto', 'original'];
/** The values of `include`. */
export const INCLUSIONS: readonly string[] = [
  'file_search_call.results',
  'web_search_call.results',
  'web_search_call.action.sources',
  'message.input_image.image_url',
  'computer_call_output.output.image_url',
  'code_interpreter_call.outputs',
  'reasoning.encrypted_content',
  'message.output_text.logprobs',
];
const CHOICES = [
  'function',
  'allowed_tools',
  'custom',
  'mcp',
  'namespace',
  'web_search',
  'web_search_preview',
  'web_search_preview_2025_03_11',
  'web_search_2025_08_26',
  'web_fetch',
  'url_context',
  'file_search',
  'code_interpreter',
  'computer',
  'computer_use',
  'computer_use_preview',
  'image_generation',
  'shell',
  'local_shell',
  'apply_patch',
  'tool_search',
  'programmatic_tool_calling',
];
const ITEMS: ReadonlySet<string> = new Set([
  'message',
  'reasoning',
  'compaction',
  'compaction_trigger',
  'item_reference',
  'vendor_item',
  'mcp_list_tools',
  'mcp_approval_request',
  'mcp_approval_response',
  'additional_tools',
  'program',
]);
/** Calls and outputs of tools; extensions have a prefix, https://www.openresponses.org. */
const ITEM_PATTERN = /_(?:call|output)$|:/;

/** @throws LLMInvalidRequestError with the JSON path of the value */
export function checkForeignRequest({ text, tool_choice, reasoning, include, service_tier, input }: JsonObject): void {
  const { format, verbosity } = fieldsOf(text);
  expectOneOf(FORMATS, fieldsOf(format).type, 'text.format.type');
  expectOneOf(VERBOSITIES, verbosity, 'text.verbosity');
  if (isObject(tool_choice)) expectOneOf(CHOICES, tool_choice.type, 'tool_choice.type');
  expectOneOf(EFFORTS, fieldsOf(reasoning).effort, 'reasoning.effort');
  expectOneOf(SUMMARIES, fieldsOf(reasoning).summary, 'reasoning.summary');
  listOf(include).forEach((value, index) => expectOneOf(INCLUSIONS, value, `include[${index}]`));
  expectOneOf(SERVICE_TIERS, service_tier, 'service_tier');
  listOf(input).forEach((item, index) => checkItem(fieldsOf(item), `input[${index}]`));
}

function checkItem({ type, content }: JsonObject, path: string): void {
  if (typeof type === 'string' && !ITEMS.has(type) && !ITEM_PATTERN.test(type))
    throw new LLMInvalidRequestError(`"${path}.type" is "${type.slice(0, 100)}", which is no known type of item.`, {
      path: `${path}.type`,
    });
  listOf(content).forEach((part, index) => {
    const { type: partType, detail } = fieldsOf(part);
    if (partType === 'input_image') expectOneOf(DETAILS, detail, `${path}.content[${index}].detail`);
  });
}

/** Null counts as absent. Values of another type are refused by the readers of the field. */
function expectOneOf(allowed: readonly string[], value: unknown, path: string): void {
  if (typeof value !== 'string' || allowed.includes(value)) return;
  throw new LLMInvalidRequestError(
    `"${path}" is "${value.slice(0, 100)}", but must be one of: ${allowed.join(', ')}.`,
    { path },
  );
}

function listOf(value: unknown): readonly unknown[] {
  return isList(value) ? value : [];
}
