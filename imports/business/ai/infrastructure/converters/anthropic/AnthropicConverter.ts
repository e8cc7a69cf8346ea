/** The Anthropic Messages wire, out and back. https://platform.claude.com/docs/en/api/messages */
import { outputTextOf } from '../../../domain/entities/Response';
import { LLMStreamError } from '../../../domain/errors/LLMErrors';
import { vendorError } from '../../../domain/errors/vendorErrors';
import { fieldsOf, isObject, isObjectList } from '../../../domain/json';
import { anthropicHeaders } from './request/headers';
import { assistantItems, isBlank } from './response/blocks';
import { anthropicConversation } from './request/messages';
import { anthropicModelFacts } from './modelFeatures';
import { outcomeOf, usageOrNone } from './response/outcome';
import { structuredOutput } from './request/structuredOutput';
import { anthropicSampling, anthropicThinking, endsMidTurnWithoutThinking } from './request/thinking';
import { anthropicTools } from './request/tools';
import { acceptedFields, passthroughFields, withVerbatim } from './request/passthrough';
import { repairHistory } from '../shared/repairHistory';
import type { NormalizedOptions } from '../../../domain/types/LLMTypes';
import type { InputItem, LLMResponse, OutputItem } from '../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import type { BlockContext } from './response/blocks';
import type { AnthropicModelFacts } from './modelFeatures';
import type { Outcome } from './response/outcome';
import type { StructuredOutput } from './request/structuredOutput';
import type { AnthropicTools } from './request/tools';
import type { ReplyContext, WireContext, WireRequest } from '../Wire';

// Out

/** @throws UnsupportedFeatureError for content or tools that the wire or the model cannot take */
export function toAnthropic(options: NormalizedOptions, context: WireContext, stream: boolean): WireRequest {
  const facts = anthropicModelFacts(options.model);
  const { betas, anthropic_version: version, ...own } = passthroughFields(options, context);
  const ownOutput = fieldsOf(own.output_config);
  const warnings = unsupportedOptions(options);

  const history = repairHistory(options.input, { nativeAsync: false });
  const conversation = anthropicConversation(history.items, context, facts, (item) =>
    pathOf(item, options.input, history.items),
  );

  const tools = anthropicTools(options, context, facts);
  const answer =
    'format' in ownOutput || 'output_format' in own
      ? structuredOutput(undefined, true, new Set())
      : structuredOutput(options.response_format, context.capabilities.supportsJSONSchema, namesOf(tools.tools));
  // Where no tool may be called, the one that stands for the answer is the only one.
  const offered = answer.tool !== undefined && tools.tool_choice?.type === 'none' ? { ...tools, tools: [] } : tools;
  const choice = answer.tool === undefined ? tools.tool_choice : answerChoice(answer.tool.name, offered, facts);

  const max_tokens = options.max_output_tokens ?? context.capabilities.maxOutputTokens;
  const thinking =
    'thinking' in own || 'effort' in ownOutput
      ? { warnings: [] }
      : anthropicThinking({
          options,
          facts,
          supportsReasoning: context.capabilities.supportsReasoning,
          maxTokens: max_tokens,
          forcedTool: choice?.type === 'any' || choice?.type === 'tool',
          midTurnWithoutThinking: endsMidTurnWithoutThinking(conversation.messages),
        });
  const sampling = anthropicSampling(
    options,
    facts,
    thinking.thinking !== undefined && thinking.thinking.type !== 'disabled',
    warnings,
  );

  const allTools = answer.tool === undefined ? tools.tools : [...offered.tools, answer.tool.tool];
  const system = systemField(options, conversation.system, answer);
  const output_config = {
    ...(answer.format === undefined ? {} : { format: answer.format }),
    ...(thinking.effort === undefined ? {} : { effort: thinking.effort }),
  };
  const user = options.user ?? options.metadata?.user_id;
  const fields: JsonObject = {
    model: options.model,
    max_tokens,
    messages: conversation.messages,
    ...(system === undefined ? {} : { system }),
    ...(allTools.length > 0 ? { tools: allTools } : {}),
    ...(choice === undefined ? {} : { tool_choice: choice }),
    ...(tools.mcp_servers.length > 0 ? { mcp_servers: tools.mcp_servers } : {}),
    ...sampling,
    ...(options.stop === undefined ? {} : { stop_sequences: options.stop }),
    ...(thinking.thinking === undefined ? {} : { thinking: thinking.thinking }),
    ...(Object.keys(output_config).length > 0 ? { output_config } : {}),
    ...(user === undefined ? {} : { metadata: { user_id: user } }),
    ...(stream ? { stream: true } : {}),
  };
  const body = withVerbatim(acceptedFields(fields, context, warnings), own);
  const headers = anthropicHeaders(body, { betas, version });
  return {
    body,
    ...(headers === undefined ? {} : { headers }),
    warnings: [...warnings, ...tools.warnings, ...answer.warnings, ...thinking.warnings],
    losses: [...history.losses, ...conversation.losses, ...answer.losses],
    ...(answer.tool === undefined ? {} : { structuredOutputTool: answer.tool.name }),
  };
}

function unsupportedOptions(options: NormalizedOptions): string[] {
  const warnings: string[] = [];
  if (options.previous_response_id !== undefined)
    warnings.push('previous_response_id left out: this wire keeps no responses, so the whole history must be sent');
  if (options.store === true) warnings.push('store left out: this wire keeps no responses');
  const others = Object.keys(options.metadata ?? {}).filter((key) => key !== 'user_id');
  if (others.length > 0) warnings.push(`metadata ${others.join(', ')} left out: this wire takes a user's id only`);
  return warnings;
}

/** Where the caller finds the item; repaired ones stand where the repair put them. */
function pathOf(item: InputItem, given: readonly InputItem[], repaired: readonly InputItem[]): string {
  const index = given.indexOf(item);
  return `input[${index >= 0 ? index : repaired.indexOf(item)}]`;
}

function namesOf(tools: readonly JsonObject[]): ReadonlySet<string> {
  return new Set(tools.flatMap(({ name }) => (typeof name === 'string' ? [name] : [])));
}

/**
 * The answer is a call too, so the model must call something; which, is its own decision when it has other tools
 * and none was chosen.
 */
function answerChoice(name: string, { tools, tool_choice }: AnthropicTools, facts: AnthropicModelFacts): JsonObject {
  if (tool_choice?.type === 'tool') return tool_choice;
  if (!facts.forcedTools) return { type: 'auto' };
  return tools.length > 0 ? { type: 'any' } : { type: 'tool', name };
}

/** One plain text is sent as such; several, or one with a cache mark, as blocks. */
function systemField(
  options: NormalizedOptions,
  said: readonly JsonObject[],
  answer: StructuredOutput,
): string | readonly JsonObject[] | undefined {
  const texts = [options.instructions, answer.instruction];
  const [before, after] = texts.map((text) => (text === undefined || isBlank(text) ? [] : [{ type: 'text', text }]));
  const blocks: readonly JsonObject[] = [...(before ?? []), ...said, ...(after ?? [])];
  const [only] = blocks;
  if (only === undefined) return undefined;
  if (blocks.length === 1 && typeof only.text === 'string' && Object.keys(only).length === 2) return only.text;
  return blocks;
}

// Back

/**
 * @param brokenInputs inputs that a stream left unfinished, as text, by their block
 * @throws LLMStreamError for a body that is not a message, LLMError for an error that came with status 200
 */
export function fromAnthropic(
  body: unknown,
  context: ReplyContext,
  brokenInputs?: ReadonlyMap<JsonObject, string>,
): LLMResponse {
  const { id, type: _, role: __, model, content, stop_reason, usage, ...fields } = messageBody(body, context);
  const warnings = [...context.warnings];
  const finish_reason = stopReason(stop_reason, context);
  const outcome = outcomeOf(finish_reason, warnings);
  const modelName = typeof model === 'string' ? model : context.model;
  const output = endedBy(outcome, assistantItems(content, blockContext(context, modelName, brokenInputs)));
  return {
    id,
    object: 'response',
    created_at: context.receivedAt,
    status: outcome.status,
    ...(outcome.reason === undefined ? {} : { incomplete_details: { reason: outcome.reason } }),
    model: modelName,
    output,
    output_text: outputTextOf(output),
    usage: usageOrNone(usage, warnings),
    vendor: {
      name: context.vendor,
      wire: 'anthropic_messages',
      finish_reason,
      ...(context.requestId === undefined ? {} : { request_id: context.requestId }),
      warnings,
      losses: context.losses,
      ...(Object.keys(fields).length > 0 ? { fields } : {}),
      ...(isObject(usage) ? { usage } : {}),
    },
  };
}

export function blockContext(
  context: ReplyContext,
  model: string,
  brokenInputs?: ReadonlyMap<JsonObject, string>,
): BlockContext {
  return {
    origin: { wire: 'anthropic_messages', vendor: context.vendor, model },
    trusted: true,
    structuredOutputTool: context.structuredOutputTool,
    brokenInputs,
  };
}

/** A message that the token limit ended is not whole. */
function endedBy(outcome: Outcome, output: readonly OutputItem[]): readonly OutputItem[] {
  const last = output.at(-1);
  if (outcome.reason !== 'max_output_tokens' || last?.type !== 'message') return output;
  return [...output.slice(0, -1), { ...last, status: 'incomplete' }];
}

type MessageBody = JsonObject & { readonly id: string; readonly content: readonly JsonObject[] };

function messageBody(body: unknown, context: ReplyContext): MessageBody {
  const facts = {
    vendor: context.vendor,
    ...(context.requestId === undefined ? {} : { requestId: context.requestId }),
  };
  if (!isObject(body)) throw new LLMStreamError(`The answer is ${kindOf(body)} instead of a message.`, facts);
  if (body.type === 'error') throw vendorError({ ...facts, body });
  const { id, type, content } = body;
  if (type !== 'message')
    throw new LLMStreamError(
      `The answer's type is ${type === undefined ? 'missing' : JSON.stringify(type)} instead of "message".`,
      facts,
    );
  if (typeof id !== 'string') throw new LLMStreamError('The answer is a message without an id.', facts);
  if (!isObjectList(content))
    throw new LLMStreamError('The answer is a message without a list of content blocks.', facts);
  return { ...body, id, content };
}

function kindOf(body: unknown): string {
  if (typeof body === 'string')
    return /^\s*<(!doctype|html|\?xml)/i.test(body) ? 'an HTML page' : body.trim() === '' ? 'empty' : 'plain text';
  if (body === null || body === undefined) return 'empty';
  return Array.isArray(body) ? 'a list' : `a ${typeof body}`;
}

/** An answer that does not say how it ended may be cut off anywhere. */
function stopReason(word: unknown, { quirks, vendor }: ReplyContext): string | null {
  if (typeof word === 'string') return word;
  if (quirks.allowsNullFinishReason) return null;
  throw new LLMStreamError('The answer does not say how it ended: its stop_reason is missing.', { vendor });
}
