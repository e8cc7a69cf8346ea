/** Renders a model's turn in the wire and form of its request. */
import { estimateTokens } from '../model/ModelTurn';
import type { Conversation } from '../model/Conversation';
import { countTokens } from '../model/countTokens';
import type { ModelTurn, TokenCount } from '../model/ModelTurn';
import { vendorProfile } from '../vendorProfiles';
import type { ScriptedTurn, ScriptedCall } from '../ScriptedResponse';
import { failureOf } from '../wires/interactions/writeInteractions';
import type { TurnContext, WireRequest, WireSimulator } from '../wires/WireSimulator';
import { createErrorBody } from './createErrorBody';
import type { RenderedResponse } from './RenderedResponse';
import { renderJson, renderSse } from './RenderedResponse';
import { createRequestIdHeaders } from './createRequestIdHeaders';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';

export interface ResponseForm {
  readonly stream: boolean;
  /** The stream is one JSON array (Gemini without `alt=sse`). */
  readonly asArray: boolean;
}

export function renderTurn(
  wire: WireSimulator,
  request: WireRequest,
  conversation: Conversation,
  turn: ModelTurn,
  form: ResponseForm,
  usage: Partial<TokenCount> = {},
): RenderedResponse {
  const context: TurnContext = {
    ...request,
    conversation,
    turn,
    usage: completeUsage(conversation, turn, usage),
    createdAt: Math.floor(Date.now() / 1000),
  };
  const headers = createRequestIdHeaders(request.vendor);
  const isGemini = vendorProfile(request.vendor).errors === 'google';
  if (form.asArray)
    return renderJsonArray(
      wire.stream(context).map((event) => event.data),
      headers,
    );
  // Gemini ends its lines with CRLF (gemini-stream-text-a).
  if (form.stream) return renderSse(wire.stream(context), isGemini ? '\r\n' : '\n', headers);
  if (turn.failure !== undefined && conversation.wire !== 'responses') {
    const { message, code } = turn.failure;
    return renderJson(
      500,
      createErrorBody(request.vendor, { status: 500, message, code, type: 'server_error' }),
      headers,
    );
  }
  // Gemini's Interactions API refuses a request whose response is blocked.
  const blocked =
    conversation.wire === 'interactions' && request.body.background !== true ? failureOf(context) : undefined;
  if (blocked !== undefined) return renderJson(400, { error: blocked }, headers);
  return renderJson(200, wire.write(context), headers);
}

/** @returns undefined for a script without content, for which the model generates the turn */
export function toModelTurn(script: ScriptedTurn): ModelTurn | undefined {
  const { text, calls, reasoning, redacted, refusal, incomplete, failed } = script;
  if ([text, calls, reasoning, refusal, incomplete, failed].every((field) => field === undefined)) return undefined;
  return omitUndefined({
    reasoning,
    redacted,
    text,
    refusal,
    calls: (calls ?? []).map(toModelCall),
    ending: incomplete ?? 'complete',
    failure: failed && { message: failed.message, code: failed.code ?? 'server_error' },
  });
}

function toModelCall({ id, name, namespace, arguments: args = {} }: ScriptedCall): ModelTurn['calls'][number] {
  return omitUndefined({ name, namespace, arguments: typeof args === 'string' ? args : JSON.stringify(args), id });
}

function completeUsage(conversation: Conversation, turn: ModelTurn, given: Partial<TokenCount>): TokenCount {
  return { ...countTokens(conversation, turn), ...given };
}

/** One array element per event, and one frame per element. */
function renderJsonArray(chunks: readonly string[], headers: Readonly<Record<string, string>>): RenderedResponse {
  const frames = chunks.map((chunk, index) =>
    Buffer.from(`${index === 0 ? '[' : ',\r\n'}${chunk}${index === chunks.length - 1 ? ']' : ''}`),
  );
  return { status: 200, headers: { 'content-type': 'application/json; charset=UTF-8', ...headers }, frames };
}

/** The summary that replaces a conversation after compaction. */
export function summarize(conversation: Conversation): string {
  const texts = conversation.turns.map((turn) => (turn.type === 'call' ? `${turn.name} was called.` : turn.text));
  const summary = `Summary of ${conversation.turns.length} turns: ${texts.join(' ')}`;
  return estimateTokens(summary) > 200 ? `${summary.slice(0, 800)}…` : summary;
}
