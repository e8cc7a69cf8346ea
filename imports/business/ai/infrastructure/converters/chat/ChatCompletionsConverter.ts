/**
 * The chat completions wire, as OpenAI, Azure, xAI, Groq and the hosts of open models speak it: our request as its
 * body, its answer as ours. https://platform.openai.com/docs/api-reference/chat
 */
import { without } from './chatJson';
import { toChatMessages } from './request/messages';
import { inWords, toChatParameters } from './request/parameters';
import { quirksOf } from './quirksOfModel';
import { completionIn, replyId, replyItems } from './response/reply';
import type { Completion } from './response/reply';
import { fromChatUsage } from './usage';
import type { ReplyContext, WireContext, WireRequest } from '../Wire';
import { NO_USAGE, outputTextOf, refusalOf } from '../../../domain/entities/Response';
import { LLMOverloadedError, LLMServerError, UnsupportedFeatureError } from '../../../domain/errors/LLMErrors';
import { fieldsOf, isObject } from '../../../domain/json';
import type { NormalizedOptions } from '../../../domain/types/LLMTypes';
import type { LLMResponse, Usage } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject, Loss } from '../../../domain/types/VendorTypes';

// Out

/** @throws UnsupportedFeatureError for what the wire or the host cannot express */
export function toChatCompletions(options: NormalizedOptions, context: WireContext, stream: boolean): WireRequest {
  if (options.previous_response_id !== undefined) {
    throw new UnsupportedFeatureError('Chat completions keep no responses: the conversation has to be sent whole.', {
      path: 'previous_response_id',
    });
  }
  const host: WireContext = { ...context, quirks: quirksOf(context.quirks, options.model) };
  const warnings: string[] = [];
  const losses: Loss[] = [];
  const { fields, instruction } = toChatParameters(options, host, warnings, losses);
  const history = toChatMessages(options.input, options.model, host);
  const told =
    instruction ?? wordOfJson(fields, [options.instructions, ...history.messages.map(({ content }) => content)]);
  const instructions = [options.instructions, told].filter((text) => text !== undefined && text !== '').join('\n\n');
  const operator = instructions === '' ? [] : [{ role: host.quirks.systemRole, content: instructions }];
  const { body, streamOptions } = withVerbatim(
    { model: options.model, messages: [...operator, ...history.messages], ...fields },
    options,
    host,
    warnings,
  );
  if (stream) {
    body.stream = true;
    if (host.quirks.supportsStreamUsage) body.stream_options = { ...streamOptions, include_usage: true };
  }
  return { body, warnings, losses: [...losses, ...history.losses] };
}

/** OpenAI and Groq refuse `json_object` unless some message speaks of JSON. */
function wordOfJson({ response_format }: JsonObject, contents: readonly unknown[]): string | undefined {
  if (!isObject(response_format) || response_format.type !== 'json_object') return undefined;
  const isSpokenOf = contents.some((content) =>
    typeof content === 'string' ? /json/i.test(content) : Array.isArray(content) && /json/i.test(textsIn(content)),
  );
  return isSpokenOf ? undefined : inWords({ type: 'json_object' });
}

function textsIn(parts: readonly unknown[]): string {
  return parts.map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : '')).join(' ');
}

/** The caller's own fields: the wire's lose what the host refuses, those for this very vendor are the caller's word. */
function withVerbatim(
  body: JsonObject,
  options: NormalizedOptions,
  { quirks, vendor }: WireContext,
  warnings: string[],
): { body: JsonObject; streamOptions: JsonObject } {
  const ofWire = options.vendor?.openai ?? {};
  const ofVendor = vendor === 'openai' ? {} : (options.vendor?.[vendor] ?? {});
  const merged: JsonObject = { ...body, ...ofWire };
  for (const field of new Set(quirks.unsupportedFields)) {
    if (merged[field] !== undefined && merged[field] !== null)
      warnings.push(`${field} was left out: ${vendor} refuses it`);
  }
  // Both are the transport's business.
  const { stream: _, stream_options, ...rest } = { ...without(merged, quirks.unsupportedFields), ...ofVendor };
  return { body: rest, streamOptions: fieldsOf(stream_options) };
}

// Back

/**
 * @throws LLMStreamError for a body that is not a chat completion, with what is wrong
 * @throws LLMError for a 200 that holds an error
 */
export function fromChatCompletions(body: unknown, context: ReplyContext): LLMResponse {
  const completion = completionIn(body, context);
  const { raw, choice } = completion;
  const warnings = [...context.warnings];
  const word = typeof choice.finish_reason === 'string' ? choice.finish_reason : null;
  const FailureClass = word !== null && Object.hasOwn(FAILURES, word) ? FAILURES[word] : undefined;
  const end = FailureClass === undefined ? endOf(word, warnings) : FAILED;
  const { output, fields } = replyItems(completion, end.status === 'completed' ? 'completed' : 'incomplete', context);
  const filtered = refusalOf({ output }) !== undefined;
  warnAboutLeftovers(completion, warnings);
  const counted = countsIn(raw, choice);
  const response: LLMResponse = {
    id: replyId(raw.id, context),
    object: 'response',
    created_at: typeof raw.created === 'number' && raw.created > 0 ? raw.created : context.receivedAt,
    ...(filtered && end !== FAILED ? { status: 'incomplete', incomplete_details: { reason: 'content_filter' } } : end),
    model: typeof raw.model === 'string' && raw.model !== '' ? raw.model : context.model,
    output,
    output_text: outputTextOf(output),
    usage: usageOf(counted, context, warnings),
    vendor: {
      name: context.vendor,
      wire: 'chat_completions',
      finish_reason: word,
      ...(context.requestId === undefined ? {} : { request_id: context.requestId }),
      warnings,
      losses: context.losses,
      fields,
      ...(counted === undefined ? {} : { usage: counted }),
    },
  };
  if (FailureClass === undefined) return response;
  const facts = {
    vendor: context.vendor,
    response,
    ...(context.requestId === undefined ? {} : { requestId: context.requestId }),
  };
  throw new FailureClass(`${context.vendor} broke the answer off: ${String(word)}.`, {
    ...facts,
    vendorCode: String(word),
  });
}

type End =
  | { readonly status: 'completed' }
  | { readonly status: 'incomplete'; readonly incomplete_details: { readonly reason: string } }
  | { readonly status: 'failed' };

const FAILED: End = { status: 'failed' };

/** OpenRouter and Mistral; DeepSeek (https://api-docs.deepseek.com/api/create-chat-completion). */
const FAILURES: Readonly<Record<string, typeof LLMServerError | typeof LLMOverloadedError>> = {
  error: LLMServerError,
  insufficient_system_resource: LLMOverloadedError,
};

const COMPLETED: End = { status: 'completed' };
const CUT_OFF: End = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };

const END_OF_WORD: Readonly<Record<string, End>> = {
  stop: COMPLETED,
  tool_calls: COMPLETED,
  function_call: COMPLETED,
  length: CUT_OFF,
  // Mistral's word for a context that is full.
  model_length: CUT_OFF,
  content_filter: { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
};

function endOf(word: string | null, warnings: string[]): End {
  const end = word !== null && Object.hasOwn(END_OF_WORD, word) ? END_OF_WORD[word] : undefined;
  if (end !== undefined) return end;
  warnings.push(
    word === null
      ? 'the answer has no finish_reason: taken as completed'
      : `finish_reason '${word}' is not known: taken as completed`,
  );
  return COMPLETED;
}

/** Moonshot counts in the choice. */
function countsIn(raw: JsonObject, choice: JsonObject): JsonObject | undefined {
  return [raw.usage, choice.usage].find(isObject);
}

function usageOf(counted: JsonObject | undefined, context: ReplyContext, warnings: string[]): Usage {
  if (counted !== undefined) return fromChatUsage(counted, quirksOf(context.quirks, context.model));
  warnings.push(`${context.vendor} gave no usage: it counts as zero`);
  return NO_USAGE;
}

function warnAboutLeftovers({ choices, message }: Completion, warnings: string[]): void {
  if (choices.length > 1) {
    const others = choices
      .slice(1)
      .map((choice, at) => (isObject(choice) && typeof choice.index === 'number' ? choice.index : at + 1));
    warnings.push(`the first of ${choices.length} choices is the answer; left aside: ${others.join(', ')}`);
  }
  const { content } = message;
  if (content !== null && content !== undefined && typeof content !== 'string' && !Array.isArray(content))
    warnings.push(`the answer's content is ${typeof content}, not text: it was left aside`);
}
