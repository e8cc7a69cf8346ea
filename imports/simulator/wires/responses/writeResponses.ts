/** An answer in the Responses wire as one body; what the server keeps of it goes into the archive. */
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { tokensIn } from '../../model/ModelTurn';
import type { ModelTurn, TokenCount } from '../../model/ModelTurn';
import { sealUp } from '../../seals';
import type { Answer } from '../WireSimulator';
import { inputItems, responsesBody, wantedFormat } from './responsesBody';
import type { ResponsesBody } from './responsesBody';
import { responseHost } from './responseHosts';

export function writeResponses(answer: Answer): JsonObject {
  const response = finishedResponse(answer);
  archive(answer, response);
  return response;
}

/** The response before anything is said. */
export function emptyResponse(answer: Answer): JsonObject {
  const body = responsesBody(answer.body);
  return {
    id: responseHost(answer.vendor).responseId(),
    object: 'response',
    created_at: answer.createdAt,
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    max_tool_calls: null,
    model: answer.model,
    output: [],
    parallel_tool_calls: body.parallel_tool_calls ?? true,
    previous_response_id: body.previous_response_id ?? null,
    reasoning: { effort: body.reasoning?.effort ?? null, summary: body.reasoning?.summary ?? null },
    service_tier: 'default',
    store: body.store ?? true,
    temperature: body.temperature ?? 1,
    text: { format: echoedFormat(answer, body), verbosity: 'medium' },
    tool_choice: body.tool_choice ?? 'auto',
    tools: body.tools ?? [],
    top_logprobs: 0,
    top_p: 1,
    truncation: 'disabled',
    usage: null,
    user: null,
    metadata: answer.body.metadata ?? {},
  };
}

export function finishedResponse(answer: Answer, started: JsonObject = emptyResponse(answer)): JsonObject {
  const { turn } = answer;
  const failed =
    turn.failure === undefined ? {} : { error: { code: turn.failure.code, message: turn.failure.message } };
  const status = turn.failure !== undefined ? 'failed' : turn.ending === 'complete' ? 'completed' : 'incomplete';
  return {
    ...started,
    status,
    completed_at: status === 'completed' ? answer.createdAt : null,
    incomplete_details: turn.ending === 'complete' ? null : { reason: turn.ending },
    output: outputItems(answer, started, status === 'incomplete' ? 'incomplete' : 'completed'),
    usage: usage(answer.usage),
    ...failed,
  };
}

export function archive(answer: Answer, response: JsonObject): void {
  const body = responsesBody(answer.body);
  if (body.store === false || response.status === 'failed') return;
  const before = answer.archive.get(answer.vendor, body.previous_response_id ?? '')?.items ?? [];
  const input = inputItems(body);
  answer.archive.keep(answer.vendor, {
    response,
    input,
    items: [...before, ...input, ...(response.output as readonly JsonObject[])],
  });
}

/** Reasoning, then the text or refusal, then the calls. */
function outputItems({ vendor, turn, body: raw }: Answer, response: JsonObject, status: string): JsonObject[] {
  const host = responseHost(vendor);
  const body = responsesBody(raw);
  const responseId = String(response.id);
  const items: JsonObject[] = [];
  if (turn.reasoning !== undefined) {
    const id = host.itemId('rs', responseId, 0);
    items.push({
      id,
      type: 'reasoning',
      summary: summaryOf(turn, body),
      ...(host.reasoningHasStatus ? { status: 'completed' } : {}),
      ...(body.include?.includes('reasoning.encrypted_content') === true
        ? { encrypted_content: sealReasoning(vendor, id, turn.reasoning) }
        : {}),
    });
  }
  const part =
    turn.refusal === undefined
      ? { type: 'output_text', text: turn.text ?? '', annotations: [], logprobs: [] }
      : { type: 'refusal', refusal: turn.refusal };
  const speaks =
    (turn.text ?? '') !== '' || turn.refusal !== undefined || (turn.calls.length === 0 && turn.ending === 'complete');
  if (speaks)
    items.push({ id: host.itemId('msg', responseId, 0), type: 'message', status, role: 'assistant', content: [part] });
  for (const [index, call] of turn.calls.entries()) {
    items.push({
      id: host.itemId('fc', responseId, index),
      type: 'function_call',
      status: 'completed',
      arguments: call.arguments,
      call_id: call.id ?? host.callId(index),
      name: call.name,
      ...(call.async === true ? { async: true } : {}),
    });
  }
  return items;
}

/** A summary is given only to those who ask for one. */
function summaryOf(turn: ModelTurn, body: ResponsesBody): JsonObject[] {
  const wanted = body.reasoning?.summary !== undefined && body.reasoning.summary !== null;
  return wanted && turn.redacted !== true ? [{ type: 'summary_text', text: turn.reasoning }] : [];
}

/** OpenAI's seals begin with these letters in every recording. */
export const SEAL_MARK = 'gAAAAA';

function sealReasoning(vendor: Answer['vendor'], id: string, reasoning: string): string {
  return `${vendor === 'grok' ? '' : SEAL_MARK}${sealUp(vendor, { id, reasoning })}`;
}

/** xAI echoes the format without its name (xai-resp-structured-b). */
function echoedFormat({ vendor }: Answer, body: ResponsesBody): JsonObject {
  const format = { type: 'text', ...wantedFormat(body) };
  return vendor === 'grok' ? Object.fromEntries(Object.entries(format).filter(([key]) => key !== 'name')) : format;
}

export function usage(count: TokenCount): JsonObject {
  const output = count.output + count.reasoning;
  return {
    input_tokens: count.input,
    input_tokens_details: { cached_tokens: count.cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: count.reasoning },
    total_tokens: count.input + output,
  };
}

/** The usage of a compaction: what went in, and its summary. */
export function compactionUsage(input: number, summary: string): JsonObject {
  return usage({ input, cached: 0, output: tokensIn(summary), reasoning: 0 });
}
