/**
 * Converts requests to, and responses from, the chat completions wire, which OpenAI, Azure, xAI, Groq and most
 * providers of open models implement. https://platform.openai.com/docs/api-reference/chat
 */
import { without } from './vendorFields';
import { toChatMessages } from './request/messages';
import { formatInstruction, toChatParameters } from './request/parameters';
import { quirksOfModel } from '../shared/quirksOfModel';
import { parseCompletion, responseIdOf, completionItems } from './response/completion';
import { BREAKPOINT, withExplicitBreakpoints } from '../shared/promptCache';
import { sharedFields } from '../shared/sharedFields';
import type { Completion } from './response/completion';
import { fromChatUsage, withExecutedTools } from './usage';
import type { ResponseContext, WireContext, WireRequest } from '../Wire';
import { NO_USAGE, outputTextOf, refusalOf } from '../../../domain/entities/Response';
import { LLMOverloadedError, LLMServerError, UnsupportedFeatureError } from '../../../domain/errors/LLMErrors';
import { fieldsOf, isObject } from '../../../domain/util/json';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import { atOnce } from '../../../domain/util/slices';
import type { Slices } from '../../../domain/util/slices';
import type { NormalizedOptions } from '../../../domain/types/LLMTypes';
import type { InputItem, LLMResponse, Usage } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject, Loss } from '../../../domain/types/VendorTypes';
import { reportedCost } from '../shared/reportedCost';

// To the wire

/** @throws UnsupportedFeatureError for what the wire or the vendor cannot express */
export function toChatCompletions(options: NormalizedOptions, context: WireContext, stream: boolean): WireRequest {
  return atOnce(chatCompletionsSlices(options, context, stream));
}

/** Converts like `toChatCompletions`, a slice of the history at a time. */
export function* chatCompletionsSlices(
  options: NormalizedOptions,
  context: WireContext,
  stream: boolean,
): Slices<WireRequest> {
  if (options.previous_response_id !== undefined) {
    throw new UnsupportedFeatureError('Chat completions store no responses; send the entire conversation as input.', {
      path: 'previous_response_id',
    });
  }
  const modelContext: WireContext = { ...context, quirks: quirksOfModel(context.quirks, options.model) };
  const warnings: string[] = [];
  const losses: Loss[] = [];
  const { fields, instruction } = toChatParameters(options, modelContext, warnings, losses);
  const cached = withExplicitBreakpoints(options, modelContext.quirks, withBreakpoint);
  const history = yield* toChatMessages(cached.input, options.model, modelContext);
  const addedInstruction =
    instruction ?? jsonInstruction(fields, [options.instructions, ...history.messages.map(({ content }) => content)]);
  const instructions = [options.instructions, addedInstruction]
    .filter((text) => text !== undefined && text !== '')
    .join('\n\n');
  const systemMessages = instructions === '' ? [] : [{ role: modelContext.quirks.systemRole, content: instructions }];
  const { body, streamOptions } = withPassthroughFields(
    { model: options.model, messages: [...systemMessages, ...history.messages], ...fields, ...cached.fields },
    options,
    modelContext,
    warnings,
  );
  if (stream) {
    body.stream = true;
    if (modelContext.quirks.supportsStreamUsage) body.stream_options = { ...streamOptions, include_usage: true };
  }
  return { body, warnings, losses: [...losses, ...cached.losses, ...history.losses] };
}

/** Parts of messages take the fields of this wire. */
function withBreakpoint(item: InputItem): InputItem | undefined {
  if (item.type !== 'message' || item.role === 'assistant') return undefined;
  const { content } = item;
  const last = content.at(-1);
  if (last === undefined) return undefined;
  const openai = { ...last.vendor?.openai, ...BREAKPOINT };
  return { ...item, content: content.with(-1, { ...last, vendor: { ...last.vendor, openai } }) };
}

/** OpenAI and Groq reject `json_object` unless some message mentions JSON. */
function jsonInstruction({ response_format }: JsonObject, contents: readonly unknown[]): string | undefined {
  if (!isObject(response_format) || response_format.type !== 'json_object') return undefined;
  const mentionsJson = contents.some((content) =>
    typeof content === 'string' ? /json/i.test(content) : Array.isArray(content) && /json/i.test(textsIn(content)),
  );
  return mentionsJson ? undefined : formatInstruction({ type: 'json_object' });
}

function textsIn(parts: readonly unknown[]): string {
  return parts.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join(' ');
}

/**
 * Adds the caller's passthrough fields. Those for the wire lose the fields that the vendor rejects; those for this
 * very vendor are sent as they are.
 */
function withPassthroughFields(
  body: JsonObject,
  options: NormalizedOptions,
  context: WireContext,
  warnings: string[],
): { body: JsonObject; streamOptions: JsonObject } {
  const { quirks, vendor } = context;
  const shared = sharedFields(options.vendor?.openai_responses, context, 'chat_completions');
  const wireFields = { ...shared, ...options.vendor?.openai };
  const vendorFields = vendor === 'openai' ? {} : (options.vendor?.[vendor] ?? {});
  const merged: JsonObject = { ...body, ...wireFields };
  for (const field of new Set(quirks.unsupportedFields)) {
    if (merged[field] !== undefined && merged[field] !== null)
      warnings.push(`"${field}" was omitted: ${vendor} rejects it.`);
  }
  // The transport decides on both.
  const { stream: _, stream_options, ...rest } = { ...without(merged, quirks.unsupportedFields), ...vendorFields };
  return { body: rest, streamOptions: fieldsOf(stream_options) };
}

// From the wire

/**
 * @throws LLMStreamError for a body that is not a chat completion
 * @throws LLMError for an error with status 200
 */
export function fromChatCompletions(body: unknown, context: ResponseContext): LLMResponse {
  const completion = parseCompletion(body, context);
  const { raw, choice } = completion;
  const warnings = [...context.warnings];
  const finishReason = typeof choice.finish_reason === 'string' ? choice.finish_reason : null;
  const FailureClass =
    finishReason !== null && Object.hasOwn(FAILURE_CLASSES, finishReason) ? FAILURE_CLASSES[finishReason] : undefined;
  const outcome = FailureClass === undefined ? outcomeOf(finishReason, warnings) : FAILED;
  const { output, fields } = completionItems(
    completion,
    outcome.status === 'completed' ? 'completed' : 'incomplete',
    context,
  );
  const isRefused = refusalOf({ output }) !== undefined;
  warnAboutIgnoredContent(completion, warnings);
  const rawUsage = rawUsageIn(raw, choice);
  const response: LLMResponse = {
    id: responseIdOf(raw.id, context),
    object: 'response',
    created_at: typeof raw.created === 'number' && raw.created > 0 ? raw.created : context.receivedAt,
    ...(isRefused && outcome !== FAILED ? FILTERED : outcome),
    model: typeof raw.model === 'string' && raw.model !== '' ? raw.model : context.model,
    output,
    output_text: outputTextOf(output),
    usage: withExecutedTools(usageOf(rawUsage, context, warnings), completion.message),
    vendor: omitUndefined({
      name: context.vendor,
      wire: 'chat_completions',
      finish_reason: finishReason,
      request_id: context.requestId,
      warnings,
      losses: context.losses,
      fields,
      ...(rawUsage === undefined ? {} : { usage: rawUsage, ...reportedCost(rawUsage) }),
    }),
  };
  if (FailureClass === undefined) return response;
  const details = omitUndefined({ vendor: context.vendor, response, requestId: context.requestId });
  throw new FailureClass(`${context.vendor} aborted the response with finish_reason "${String(finishReason)}".`, {
    ...details,
    vendorCode: String(finishReason),
  });
}

type Outcome =
  | { readonly status: 'completed' }
  | { readonly status: 'incomplete'; readonly incomplete_details: { readonly reason: string } }
  | { readonly status: 'failed' };

const FAILED: Outcome = { status: 'failed' };

/**
 * OpenRouter and Mistral; Z.ai (https://docs.z.ai/api-reference/llm/chat-completion); DeepSeek
 * (https://api-docs.deepseek.com/api/create-chat-completion).
 */
const FAILURE_CLASSES: Readonly<Record<string, typeof LLMServerError | typeof LLMOverloadedError>> = {
  error: LLMServerError,
  network_error: LLMServerError,
  insufficient_system_resource: LLMOverloadedError,
};

const COMPLETED: Outcome = { status: 'completed' };
const TRUNCATED: Outcome = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };

const FILTERED: Outcome = { status: 'incomplete', incomplete_details: { reason: 'content_filter' } };

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  stop: COMPLETED,
  // Together: the model ended its text.
  eos: COMPLETED,
  tool_calls: COMPLETED,
  function_call: COMPLETED,
  length: TRUNCATED,
  // Mistral, Z.ai: the context window is full.
  model_length: TRUNCATED,
  model_context_window_exceeded: TRUNCATED,
  content_filter: FILTERED,
  // Z.ai
  sensitive: FILTERED,
};

function outcomeOf(finishReason: string | null, warnings: string[]): Outcome {
  const outcome = finishReason !== null && Object.hasOwn(OUTCOMES, finishReason) ? OUTCOMES[finishReason] : undefined;
  if (outcome !== undefined) return outcome;
  warnings.push(
    finishReason === null
      ? 'The response has no finish_reason; it was treated as completed.'
      : `Unknown finish_reason "${finishReason}"; the response was treated as completed.`,
  );
  return COMPLETED;
}

/** Moonshot reports usage in the choice. */
function rawUsageIn(raw: JsonObject, choice: JsonObject): JsonObject | undefined {
  return [raw.usage, choice.usage].find(isObject);
}

function usageOf(rawUsage: JsonObject | undefined, context: ResponseContext, warnings: string[]): Usage {
  if (rawUsage !== undefined) return fromChatUsage(rawUsage, quirksOfModel(context.quirks, context.model));
  warnings.push(`${context.vendor} reported no usage; its tokens count as zero.`);
  return NO_USAGE;
}

function warnAboutIgnoredContent({ choices, message }: Completion, warnings: string[]): void {
  if (choices.length > 1) {
    const others = choices
      .slice(1)
      .map((choice, at) => (isObject(choice) && typeof choice.index === 'number' ? choice.index : at + 1));
    warnings.push(
      `The response has ${choices.length} choices; only the first was used. Ignored: ${others.join(', ')}.`,
    );
  }
  const { content } = message;
  if (typeof content === 'number' || typeof content === 'boolean')
    warnings.push(`The response's content is of type ${typeof content} instead of text; it was ignored.`);
}
