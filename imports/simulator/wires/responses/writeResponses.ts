/** Writes a Responses response as one body, and stores it in the archive. */
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { estimateTokens } from '../../model/ModelTurn';
import type { ModelTurn, TokenCount } from '../../model/ModelTurn';
import { createSignedToken } from '../../signatures';
import type { TurnContext } from '../WireSimulator';
import { inputItems, responsesBody, outputFormat } from './responsesBody';
import type { ResponsesBody } from './responsesBody';
import { unfinishedForm } from './ResponseArchive';
import { responsesProfile } from './responsesProfiles';

export function writeResponses(context: TurnContext): JsonObject {
  const response = finishResponse(context);
  archiveResponse(context, response);
  return response.background === true ? unfinishedForm(response, 'queued') : response;
}

/** The response before any output. */
export function createResponse(context: TurnContext): JsonObject {
  const body = responsesBody(context.body);
  return {
    id: responsesProfile(context.vendor).responseId(),
    object: 'response',
    created_at: context.createdAt,
    status: 'in_progress',
    background: body.background === true,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: null,
    model: context.model,
    output: [],
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: body.previous_response_id ?? null,
    reasoning: { effort: body.reasoning?.effort ?? null, summary: body.reasoning?.summary ?? null },
    service_tier: 'default',
    store: body.store ?? true,
    temperature: body.temperature ?? 1,
    text: { format: echoFormat(context, body), verbosity: body.text?.verbosity ?? 'medium' },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_logprobs: 0,
    top_p: 1,
    truncation: body.truncation ?? 'disabled',
    usage: null,
    user: null,
    metadata: context.body.metadata ?? {},
  };
}

export function finishResponse(context: TurnContext, started: JsonObject = createResponse(context)): JsonObject {
  const { turn } = context;
  const failed =
    turn.failure === undefined ? {} : { error: { code: turn.failure.code, message: turn.failure.message } };
  const status = turn.failure !== undefined ? 'failed' : turn.ending === 'complete' ? 'completed' : 'incomplete';
  return {
    ...started,
    status,
    completed_at: status === 'completed' ? context.createdAt : null,
    incomplete_details: turn.ending === 'complete' ? null : { reason: turn.ending },
    output: outputItems(context, started, status === 'incomplete' ? 'incomplete' : 'completed'),
    usage: usage(context.usage),
    ...failed,
  };
}

export function archiveResponse(context: TurnContext, response: JsonObject): void {
  const body = responsesBody(context.body);
  if (body.store === false || response.status === 'failed') return;
  const before = context.archive.before(context.vendor, body);
  const { conversation } = body;
  const conversationId = typeof conversation === 'string' ? conversation : conversation?.id;
  const input = inputItems(body);
  context.archive.add(context.vendor, {
    response,
    input,
    ...omitUndefined({ conversation: conversationId }),
    items: [...before, ...input, ...(response.output as readonly JsonObject[])],
  });
}

/** Reasoning, then the text or refusal, then the calls. */
function outputItems({ vendor, turn, body: raw }: TurnContext, response: JsonObject, status: string): JsonObject[] {
  const profile = responsesProfile(vendor);
  const body = responsesBody(raw);
  const responseId = String(response.id);
  const items: JsonObject[] = [];
  if (turn.reasoning !== undefined) {
    const id = profile.itemId('rs', responseId, 0);
    items.push({
      id,
      type: 'reasoning',
      summary: summaryOf(turn, body),
      ...(profile.reasoningHasStatus ? { status: 'completed' } : {}),
      ...(body.include?.includes('reasoning.encrypted_content') === true
        ? { encrypted_content: encryptReasoning(vendor, id, turn.reasoning) }
        : {}),
    });
  }
  const part =
    turn.refusal === undefined
      ? { type: 'output_text', text: turn.text ?? '', annotations: [], logprobs: [] }
      : { type: 'refusal', refusal: turn.refusal };
  const hasMessage =
    (turn.text ?? '') !== '' || turn.refusal !== undefined || (turn.calls.length === 0 && turn.ending === 'complete');
  if (hasMessage)
    items.push({
      id: profile.itemId('msg', responseId, 0),
      type: 'message',
      status,
      role: 'assistant',
      content: [part],
    });
  for (const [index, call] of turn.calls.entries()) {
    items.push({
      id: profile.itemId('fc', responseId, index),
      type: 'function_call',
      status: 'completed',
      arguments: call.arguments,
      call_id: call.id ?? profile.callId(index),
      name: call.name,
      ...omitUndefined({ namespace: call.namespace }),
      ...(call.async === true ? { async: true } : {}),
    });
  }
  return items;
}

/** A summary is only sent on request. */
function summaryOf(turn: ModelTurn, body: ResponsesBody): JsonObject[] {
  const isRequested = body.reasoning?.summary !== undefined && body.reasoning.summary !== null;
  return isRequested && turn.redacted !== true ? [{ type: 'summary_text', text: turn.reasoning }] : [];
}

/** OpenAI's encrypted content starts with these characters in every recording. */
export const ENCRYPTED_CONTENT_PREFIX = 'gAAAAA';

function encryptReasoning(vendor: TurnContext['vendor'], id: string, reasoning: string): string {
  return `${vendor === 'grok' ? '' : ENCRYPTED_CONTENT_PREFIX}${createSignedToken(vendor, { id, reasoning })}`;
}

/** xAI echoes the format without its name (xai-resp-structured-b). */
function echoFormat({ vendor }: TurnContext, body: ResponsesBody): JsonObject {
  const format = { type: 'text', ...outputFormat(body) };
  return vendor === 'grok' ? Object.fromEntries(Object.entries(format).filter(([key]) => key !== 'name')) : format;
}

export function usage(count: TokenCount): JsonObject {
  const output = count.output + count.reasoning;
  return {
    input_tokens: count.input,
    input_tokens_details: omitUndefined({ cached_tokens: count.cached, cache_write_tokens: count.written }),
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: count.reasoning },
    total_tokens: count.input + output,
  };
}

/** The usage of a compaction: its input and its summary. */
export function compactionUsage(input: number, summary: string): JsonObject {
  return usage({ input, cached: 0, output: estimateTokens(summary), reasoning: 0 });
}
