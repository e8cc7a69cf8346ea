/** A model's turn, or a scripted answer, in the wire and form that the request asked for. */
import { tokensIn } from '../model/ModelTurn';
import type { Conversation } from '../model/Conversation';
import { countTokens } from '../model/countTokens';
import type { ModelTurn, TokenCount } from '../model/ModelTurn';
import { hostOf } from '../hosts';
import type { ScriptedAnswer, ScriptedCall } from '../ScriptedReply';
import type { Answer, WireRequest, WireSimulator } from '../wires/WireSimulator';
import { errorBody } from './errorBody';
import type { Rendered } from './Rendered';
import { jsonAnswer, sseAnswer } from './Rendered';
import { requestIdHeaders } from './requestIdHeaders';

export interface AnswerForm {
  readonly stream: boolean;
  /** The stream is one JSON array (Gemini without `alt=sse`). */
  readonly asArray: boolean;
}

export function answerTurn(
  wire: WireSimulator,
  request: WireRequest,
  conversation: Conversation,
  turn: ModelTurn,
  form: AnswerForm,
  usage: ScriptedAnswer['usage'] = {},
): Rendered {
  const answer: Answer = {
    ...request,
    conversation,
    turn,
    usage: counted(conversation, turn, usage),
    createdAt: Math.floor(Date.now() / 1000),
  };
  const headers = requestIdHeaders(request.vendor);
  const isGemini = hostOf(request.vendor).errors === 'google';
  if (form.asArray)
    return arrayAnswer(
      wire.stream(answer).map((event) => event.data),
      headers,
    );
  // Gemini ends its lines with CRLF (gemini-stream-text-a).
  if (form.stream) return sseAnswer(wire.stream(answer), isGemini ? '\r\n' : '\n', headers);
  if (turn.failure !== undefined && conversation.wire !== 'responses') {
    const { message, code } = turn.failure;
    return jsonAnswer(500, errorBody(request.vendor, { status: 500, message, code, type: 'server_error' }), headers);
  }
  return jsonAnswer(200, wire.write(answer), headers);
}

/** What a script says, as a turn; undefined when it says nothing and the model shall speak. */
export function scriptedTurn(reply: ScriptedAnswer): ModelTurn | undefined {
  const { text, calls, reasoning, redacted, refusal, incomplete, failed } = reply;
  if ([text, calls, reasoning, refusal, incomplete, failed].every((field) => field === undefined)) return undefined;
  return {
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(redacted === undefined ? {} : { redacted }),
    ...(text === undefined ? {} : { text }),
    ...(refusal === undefined ? {} : { refusal }),
    calls: (calls ?? []).map(scriptedCall),
    ending: incomplete ?? 'complete',
    ...(failed === undefined ? {} : { failure: { message: failed.message, code: failed.code ?? 'server_error' } }),
  };
}

function scriptedCall({ id, name, arguments: args = {} }: ScriptedCall): ModelTurn['calls'][number] {
  return {
    name,
    arguments: typeof args === 'string' ? args : JSON.stringify(args),
    ...(id === undefined ? {} : { id }),
  };
}

function counted(conversation: Conversation, turn: ModelTurn, given: NonNullable<ScriptedAnswer['usage']>): TokenCount {
  return { ...countTokens(conversation, turn), ...given };
}

/** One array element per event; the frame borders are those of the elements. */
function arrayAnswer(chunks: readonly string[], headers: Readonly<Record<string, string>>): Rendered {
  const frames = chunks.map((chunk, index) =>
    Buffer.from(`${index === 0 ? '[' : ',\r\n'}${chunk}${index === chunks.length - 1 ? ']' : ''}`),
  );
  return { status: 200, headers: { 'content-type': 'application/json; charset=UTF-8', ...headers }, frames };
}

/** The summary that a compaction keeps of a conversation. */
export function summaryOf(conversation: Conversation): string {
  const said = conversation.turns.map((turn) => (turn.type === 'call' ? `${turn.name} was called.` : turn.text));
  const summary = `Summary of ${conversation.turns.length} turns: ${said.join(' ')}`;
  return tokensIn(summary) > 200 ? `${summary.slice(0, 800)}…` : summary;
}
