/**
 * Converts requests to the Anthropic Messages API and its responses back.
 * https://platform.claude.com/docs/en/api/messages
 */
import { outputTextOf } from '../../../domain/entities/Response';
import { LLMStreamError } from '../../../domain/errors/LLMErrors';
import { vendorError } from '../../../domain/errors/vendorErrors';
import { fieldsOf, isEmpty, isObject, isObjectList } from '../../../domain/util/json';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import { atOnce } from '../../../domain/util/slices';
import type { Slices } from '../../../domain/util/slices';
import { anthropicHeaders } from './request/headers';
import { containerFor, withContainer } from './containers';
import { toOutputItems, isBlank } from './response/blocks';
import { toConversation } from './request/messages';
import { anthropicModelFeatures } from './modelFeatures';
import { outcomeOf, toUsageOrNone, withCodeExecutions, withCompactions } from './response/outcome';
import { countMarks, markOf, MAX_MARKS, systemBlocks, withBreakpoints, withLastMarked } from './request/cacheMarks';
import { toStructuredOutput } from './request/structuredOutput';
import { toSampling, toThinking, continuesTurnWithoutThinking, withBlockBinding } from './request/thinking';
import { toAnthropicTools } from './request/tools';
import { withoutUnsupportedFields, passthroughFields, withPassthrough } from './request/passthrough';
import { pathsIn } from '../shared/pathsIn';
import { repairSlices } from '../shared/repairHistory';
import type { NormalizedOptions, PromptCache } from '../../../domain/types/LLMTypes';
import type { InputItem, LLMResponse, OutputItem, Usage } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import type { Writable } from '../../../domain/types/Writable';
import type { BlockContext } from './response/blocks';
import type { AnthropicModelFeatures } from './modelFeatures';
import type { Outcome } from './response/outcome';
import type { StructuredOutput } from './request/structuredOutput';
import type { AnthropicTools } from './request/tools';
import type { ResponseContext, WireContext, WireRequest } from '../Wire';

// Requests

/** @throws UnsupportedFeatureError for content or tools that the wire or the model does not support */
export function toAnthropic(options: NormalizedOptions, context: WireContext, stream: boolean): WireRequest {
  return atOnce(anthropicSlices(options, context, stream));
}

/** Converts like `toAnthropic`, a slice of the history at a time. */
export function* anthropicSlices(
  options: NormalizedOptions,
  context: WireContext,
  stream: boolean,
): Slices<WireRequest> {
  const features = anthropicModelFeatures(options.model);
  const { betas, anthropic_version: version, ...passthrough } = passthroughFields(options, context);
  const passthroughOutput = fieldsOf(passthrough.output_config);
  const warnings = unsupportedOptions(options);

  const mark = markOfRequest(options, context, passthrough);
  const { breakpoints } = promptCacheOf(options);
  const input =
    mark === undefined || breakpoints === undefined ? options.input : withBreakpoints(options.input, breakpoints, mark);
  const history = yield* repairSlices(input, { nativeAsync: false });
  const conversation = yield* toConversation(history.items, context, features, pathsIn(input, history.items), mark);

  const tools = toAnthropicTools(options, context, features);
  const structured =
    'format' in passthroughOutput || 'output_format' in passthrough
      ? toStructuredOutput(undefined, true, new Set())
      : toStructuredOutput(options.response_format, context.capabilities.supportsJSONSchema, toolNamesOf(tools.tools));
  // If no tool may be called, only the response tool is offered.
  const offered = structured.tool !== undefined && tools.tool_choice?.type === 'none' ? { ...tools, tools: [] } : tools;
  const choice =
    structured.tool === undefined ? tools.tool_choice : responseToolChoice(structured.tool.name, offered, features);

  const max_tokens = options.max_output_tokens ?? context.capabilities.maxOutputTokens;
  const thinking =
    'thinking' in passthrough || 'effort' in passthroughOutput
      ? { warnings: [] }
      : toThinking({
          options,
          features,
          supportsReasoning: context.capabilities.supportsReasoning,
          maxTokens: max_tokens,
          isToolForced: choice?.type === 'any' || choice?.type === 'tool',
          continuesTurnWithoutThinking: continuesTurnWithoutThinking(conversation.messages),
        });
  const { top_k: _, ...sampled } = options;
  const sampling = toSampling(
    'top_k' in passthrough ? sampled : options,
    features,
    thinking.thinking !== undefined && thinking.thinking.type !== 'disabled',
    warnings,
  );

  const isBound =
    features.bindsThinking &&
    !('thinking' in passthrough) &&
    history.items.some((item) => isOwnThinking(item, context));

  const allTools = structured.tool === undefined ? tools.tools : [...offered.tools, structured.tool.tool];
  const system = systemField(options, conversation.system, structured);
  const output_config = omitUndefined({ format: structured.format, effort: thinking.effort });
  const user = options.user ?? options.metadata?.user_id;
  const marked = withPrefixMarks(conversation.messages, system, allTools, mark);
  const stops = stopSequences(options, warnings);
  const bound = isBound ? withBlockBinding(thinking.thinking) : thinking.thinking;
  const container = containerFor(history.items, tools.container);
  const fields: JsonObject = { model: options.model, max_tokens, messages: conversation.messages };
  if (marked.system !== undefined) fields.system = marked.system;
  if (marked.tools.length > 0) fields.tools = marked.tools;
  if (choice !== undefined) fields.tool_choice = choice;
  if (tools.mcp_servers.length > 0) fields.mcp_servers = tools.mcp_servers;
  if (container !== undefined) fields.container = container;
  Object.assign(fields, sampling);
  if (stops !== undefined) fields.stop_sequences = stops;
  if (bound !== undefined) fields.thinking = bound;
  if (!isEmpty(output_config)) fields.output_config = output_config;
  if (user !== undefined) fields.metadata = { user_id: user };
  if (stream) fields.stream = true;
  const merged = withPassthrough(withoutUnsupportedFields(fields, context, warnings), passthrough);
  const body = options.compact === true ? asCompaction(merged) : merged;
  const request: Writable<WireRequest> = {
    body,
    warnings: [...warnings, ...tools.warnings, ...structured.warnings, ...thinking.warnings],
    losses: [...history.losses, ...conversation.losses, ...structured.losses],
  };
  const headers = anthropicHeaders(body, { betas, version });
  if (headers !== undefined) request.headers = headers;
  if (structured.tool !== undefined) request.structuredOutputTool = structured.tool.name;
  return request;
}

/**
 * The response is then the summary alone. https://platform.claude.com/docs/en/build-with-claude/compaction-on-demand
 */
function asCompaction({ context_management: _, ...body }: JsonObject): JsonObject {
  return { ...body, compaction: { type: 'summarize' } };
}

function unsupportedOptions(options: NormalizedOptions): string[] {
  const warnings: string[] = [];
  if (options.previous_response_id !== undefined)
    warnings.push(
      'previous_response_id was ignored: the Messages API stores no responses. Send the entire history instead.',
    );
  if (options.store === true) warnings.push('store was ignored: the Messages API stores no responses.');
  const others = Object.keys(options.metadata ?? {}).filter((key) => key !== 'user_id');
  if (others.length > 0) warnings.push(`Omitted metadata ${others.join(', ')}: the Messages API accepts only user_id.`);
  return warnings;
}

/** That of a client of this API has no vendor: the client itself decides what happens to it. */
function isOwnThinking(item: InputItem, { vendor }: WireContext): boolean {
  return item.type === 'reasoning' && item.origin?.wire === 'anthropic_messages' && item.origin.vendor === vendor;
}

function stopSequences({ stop }: NormalizedOptions, warnings: string[]): readonly string[] | undefined {
  const accepted = stop?.filter((sequence) => !isBlank(sequence));
  if (accepted?.length === stop?.length) return stop;
  warnings.push('Omitted stop sequences of white space: the Messages API rejects them.');
  return accepted?.length === 0 ? undefined : accepted;
}

function toolNamesOf(tools: readonly JsonObject[]): ReadonlySet<string> {
  return new Set(tools.flatMap(({ name }) => (typeof name === 'string' ? [name] : [])));
}

/**
 * The response itself is a tool call, so the model must call a tool. Which one is up to the model if it has other
 * tools and the caller has not chosen one.
 */
function responseToolChoice(
  name: string,
  { tools, tool_choice }: AnthropicTools,
  features: AnthropicModelFeatures,
): JsonObject {
  if (tool_choice?.type === 'tool') return tool_choice;
  if (!features.supportsForcedTools) return { type: 'auto' };
  return tools.length > 0 ? { type: 'any' } : { type: 'tool', name };
}

/** @returns undefined if nothing is to be marked, or the caller has marked the request with fields of the API */
function markOfRequest(
  { promptCache = false }: NormalizedOptions,
  { quirks }: WireContext,
  passthrough: JsonObject,
): JsonObject | undefined {
  if (promptCache === false || quirks.promptCache !== 'marks') return undefined;
  const isMarked = ['cache_control', 'messages', 'system', 'tools'].some((field) => field in passthrough);
  return isMarked ? undefined : markOf(promptCache);
}

function promptCacheOf({ promptCache }: NormalizedOptions): PromptCache {
  return promptCache === undefined || promptCache === false || promptCache === 'auto' ? {} : promptCache;
}

/** Tools and system, as far as there are marks left: those of messages count first. */
function withPrefixMarks(
  messages: readonly JsonObject[],
  system: string | readonly JsonObject[] | undefined,
  tools: readonly JsonObject[],
  mark: JsonObject | undefined,
): { readonly system: typeof system; readonly tools: readonly JsonObject[] } {
  if (mark === undefined) return { system, tools };
  const ofMessages = messages.reduce((count, { content }) => count + countMarks(content), 0);
  let left = MAX_MARKS - ofMessages - countMarks(system) - countMarks(tools);
  const markedSystem = system === undefined || left <= 0 ? system : withLastMarked(systemBlocks(system), mark);
  left -= countMarks(markedSystem) - countMarks(system);
  return { system: markedSystem, tools: left <= 0 ? tools : withLastMarked(tools, mark) };
}

/** A single plain text is sent as a string; several texts, or one with `cache_control`, as blocks. */
function systemField(
  options: NormalizedOptions,
  leading: readonly JsonObject[],
  structured: StructuredOutput,
): string | readonly JsonObject[] | undefined {
  const texts = [options.instructions, structured.instruction];
  const [before, after] = texts.map((text) => (text === undefined || isBlank(text) ? [] : [{ type: 'text', text }]));
  const blocks: readonly JsonObject[] = [...(before ?? []), ...leading, ...(after ?? [])];
  const [only] = blocks;
  if (only === undefined) return undefined;
  if (blocks.length === 1 && typeof only.text === 'string' && Object.keys(only).length === 2) return only.text;
  return blocks;
}

// Responses

/**
 * @param inputTexts tool inputs as a stream wrote them, by block: see `BlockContext`
 * @throws LLMStreamError for a body that is not a message, LLMError for an error that came with status 200
 */
export function fromAnthropic(
  body: unknown,
  context: ResponseContext,
  inputTexts?: ReadonlyMap<JsonObject, string>,
): LLMResponse {
  const { id, type: _, role: __, model, content, stop_reason, usage, ...fields } = parseMessage(body, context);
  const warnings = [...context.warnings];
  warnAboutThinking(fields.input_transformations, warnings);
  const finish_reason = requireStopReason(stop_reason, context);
  const outcome = outcomeOf(finish_reason, warnings);
  const modelName = typeof model === 'string' ? model : context.model;
  const items = toOutputItems(content, blockContext(context, modelName, inputTexts));
  const output = withContainer(withTruncation(outcome, items), fields.container);
  const vendor: Writable<LLMResponse['vendor']> = {
    name: context.vendor,
    wire: 'anthropic_messages',
    finish_reason,
    warnings,
    losses: context.losses,
  };
  if (context.requestId !== undefined) vendor.request_id = context.requestId;
  if (!isEmpty(fields)) vendor.fields = fields;
  if (isObject(usage)) vendor.usage = usage;
  const response: Writable<LLMResponse> = {
    id,
    object: 'response',
    created_at: context.receivedAt,
    status: outcome.status,
    model: modelName,
    output,
    output_text: outputTextOf(output),
    usage: withCodeExecutions(usageOf(usage, finish_reason, warnings), content),
    vendor,
  };
  if (outcome.reason !== undefined) response.incomplete_details = { reason: outcome.reason };
  return response;
}

/** `BetaThinkingDroppedInputTransformation` of the SDK. */
function warnAboutThinking(transformations: unknown, warnings: string[]): void {
  const dropped = isObjectList(transformations)
    ? transformations.filter(({ type }) => type === 'thinking_dropped').length
    : 0;
  if (dropped > 0)
    warnings.push(
      `Anthropic left out ${dropped} blocks of earlier thinking: what precedes them has changed, or another model wrote them.`,
    );
}

function usageOf(raw: unknown, finishReason: string | null, warnings: string[]): Usage {
  const usage = toUsageOrNone(raw, warnings);
  // Where more follows, the tokens of a compaction would pass for those of the context.
  return finishReason === 'compaction' ? withCompactions(usage, raw) : usage;
}

export function blockContext(
  context: ResponseContext,
  model: string,
  inputTexts?: ReadonlyMap<JsonObject, string>,
): BlockContext {
  return {
    origin: { wire: 'anthropic_messages', vendor: context.vendor, model },
    isTrusted: true,
    structuredOutputTool: context.structuredOutputTool,
    inputTexts,
  };
}

/** Marks a message that was cut off by the token limit as incomplete. */
function withTruncation(outcome: Outcome, output: readonly OutputItem[]): readonly OutputItem[] {
  const last = output.at(-1);
  if (outcome.reason !== 'max_output_tokens' || last?.type !== 'message') return output;
  return [...output.slice(0, -1), { ...last, status: 'incomplete' }];
}

type MessageBody = JsonObject & { readonly id: string; readonly content: readonly JsonObject[] };

function parseMessage(body: unknown, context: ResponseContext): MessageBody {
  const details = omitUndefined({ vendor: context.vendor, requestId: context.requestId });
  if (!isObject(body)) throw new LLMStreamError(`Expected a message, got ${describeBody(body)}.`, details);
  if (body.type === 'error') throw vendorError({ ...details, body });
  const { id, type, content } = body;
  if (type !== 'message')
    throw new LLMStreamError(
      `Expected a response of type "message", got ${type === undefined ? 'none' : JSON.stringify(type)}.`,
      details,
    );
  if (typeof id !== 'string') throw new LLMStreamError('The message has no "id".', details);
  if (!isObjectList(content)) throw new LLMStreamError('The message has no list of "content" blocks.', details);
  // The cast is safe: both fields were checked.
  return body as MessageBody;
}

function describeBody(body: unknown): string {
  if (typeof body === 'string')
    return /^\s*<(!doctype|html|\?xml)/i.test(body)
      ? 'an HTML page'
      : body.trim() === ''
        ? 'an empty body'
        : 'plain text';
  if (body === null || body === undefined) return 'an empty body';
  return Array.isArray(body) ? 'a list' : `a ${typeof body}`;
}

/** A response without a stop reason may have been cut off anywhere. */
function requireStopReason(reason: unknown, { quirks, vendor }: ResponseContext): string | null {
  if (typeof reason === 'string') return reason;
  if (quirks.allowsNullFinishReason) return null;
  throw new LLMStreamError('The response has no "stop_reason", so it may be incomplete.', { vendor });
}
