/**
 * The order in which a request finds its answer: the key, the address, the rules, then a script, a recording, the
 * model.
 */
import type { JsonObject, VendorName, WireName } from '../../business/ai/domain/types/VendorTypes';
import {
  compactionAnswer,
  modelsAnswer,
  noSuchModel,
  NO_SUCH_MODEL,
  storedResponseAnswer,
  tokenCountAnswer,
} from '../answers/answerEndpoint';
import { answerTurn, scriptedTurn } from '../answers/answerTurn';
import { errorBody } from '../answers/errorBody';
import { jsonAnswer } from '../answers/Rendered';
import type { Rendered } from '../answers/Rendered';
import { asString, isObject } from '../json';
import type { RuleModel } from '../model/RuleModel';
import { isRaw, isStatus } from '../ScriptedReply';
import type { Fault, FixedReply, ScriptedReply } from '../ScriptedReply';
import type { RecordedRequest } from '../RecordedRequest';
import { checkShape } from '../validation/checkShape';
import { refuse } from '../validation/Refusal';
import type { Refusal } from '../validation/Refusal';
import { anthropicWire } from '../wires/anthropic/anthropicWire';
import { chatWire } from '../wires/chat/chatWire';
import { geminiWire } from '../wires/gemini/geminiWire';
import { responsesWire } from '../wires/responses/responsesWire';
import type { ResponseArchive } from '../wires/responses/ResponseArchive';
import type { WireRequest, WireSimulator } from '../wires/WireSimulator';
import type { Playlist } from './recordings';
import type { ReplyQueue } from './ReplyQueue';
import type { Operation, Route } from './routes';

const WIRES: Record<WireName, WireSimulator> = {
  responses: responsesWire,
  chat_completions: chatWire,
  anthropic_messages: anthropicWire,
  gemini: geminiWire,
};

export interface AnswerSources {
  readonly replies: ReplyQueue;
  readonly playlist: Playlist;
  readonly model: RuleModel;
  readonly archive: ResponseArchive;
  readonly acceptForeignSeals: boolean;
}

export interface FoundAnswer {
  readonly answer: Rendered;
  readonly by: NonNullable<RecordedRequest['answeredBy']>;
  readonly refusal?: string;
  readonly fault?: Fault;
}

export async function answerRequest(
  { vendor, operation }: Route,
  request: RecordedRequest,
  sources: AnswerSources,
): Promise<FoundAnswer> {
  if (operation === undefined)
    return refused(vendor, refuse(`Unknown request URL: ${request.method} ${request.path}.`, { status: 404 }));
  if (operation.kind === 'models') return { answer: modelsAnswer(vendor, operation.id), by: 'endpoint' };
  if (operation.kind === 'stored-response')
    return { answer: storedResponseAnswer(vendor, operation, sources.archive), by: 'endpoint' };
  const wireName = operation.kind === 'compact' ? 'responses' : operation.wire;
  // Recorded answers come whatever was asked: the real vendor has spoken.
  const recorded =
    operation.kind === 'generate' ? scriptedOr(sources.playlist, sources.replies, vendor, wireName) : undefined;
  if (recorded !== undefined) return { answer: recorded, by: 'recording' };

  const { body } = request;
  if (!isObject(body)) return refused(vendor, refuse('We could not parse the JSON body of your request.'));
  const wire = WIRES[wireName];
  const wireRequest = requestOf(vendor, operation, body, request.headers, sources.archive);
  const refusal = check(operation, wireRequest, sources.acceptForeignSeals);
  if (refusal !== undefined) return refused(vendor, refusal, streams(operation, body));
  if (wireRequest.model === NO_SUCH_MODEL) return { answer: noSuchModel(vendor, NO_SUCH_MODEL), by: 'endpoint' };
  const conversation = wire.read(wireRequest);
  if (operation.kind === 'count-tokens') return { answer: tokenCountAnswer(conversation), by: 'endpoint' };
  if (operation.kind === 'compact') return { answer: compactionAnswer(wireRequest, conversation), by: 'endpoint' };

  const form = { stream: streams(operation, body), asArray: operation.asArray === true };
  const reply = await fixed(sources.replies.take(vendor), request);
  if (reply === undefined) sources.replies.miss(`${request.method} ${request.path} (request ${request.number})`);
  const ready = reply === undefined ? undefined : verbatim(reply);
  const fault = reply?.fault === undefined ? {} : { fault: reply.fault };
  if (ready !== undefined) return { answer: ready, by: 'script', ...fault };
  const scripted = reply === undefined || isRaw(reply) || isStatus(reply) ? undefined : reply;
  const said = scripted === undefined ? undefined : scriptedTurn(scripted);
  const answer = answerTurn(
    wire,
    wireRequest,
    conversation,
    said ?? sources.model.answer(conversation),
    form,
    scripted?.usage,
  );
  const by = said === undefined ? 'model' : 'script';
  return { answer: { ...answer, headers: { ...answer.headers, ...reply?.headers } }, by, ...fault };
}

/** A recording comes only when no script goes before it. */
function scriptedOr(playlist: Playlist, replies: ReplyQueue, vendor: VendorName, wire: WireName): Rendered | undefined {
  return replies.has(vendor) ? undefined : playlist.take(wire);
}

function requestOf(
  vendor: VendorName,
  operation: Extract<Operation, { kind: 'generate' | 'count-tokens' | 'compact' }>,
  body: JsonObject,
  headers: RecordedRequest['headers'],
  archive: ResponseArchive,
): WireRequest {
  const model = operation.kind === 'compact' ? undefined : operation.model;
  return {
    vendor,
    model: model ?? asString(body.model),
    body: vendor === 'azure_openai' && model !== undefined ? { model, ...body } : body,
    headers,
    archive,
  };
}

function check(
  operation: Extract<Operation, { kind: 'generate' | 'count-tokens' | 'compact' }>,
  request: WireRequest,
  acceptForeignSeals: boolean,
): Refusal | undefined {
  // Counting and compacting take a part of what generation takes; their own schemas aren't published with it.
  if (operation.kind !== 'generate') return undefined;
  const wire = WIRES[operation.wire];
  const refusal =
    wire.stumble?.(request) ??
    checkShape(request.vendor, operation.wire, wire.canonical?.(request.body) ?? request.body, operation.schema) ??
    wire.check(request);
  return refusal ?? (acceptForeignSeals ? undefined : wire.checkSeals(request));
}

function streams(operation: Operation, body: JsonObject): boolean {
  return operation.kind === 'generate' && (operation.stream ?? body.stream === true);
}

async function fixed(reply: ScriptedReply | undefined, request: RecordedRequest): Promise<FixedReply | undefined> {
  return typeof reply === 'function' ? reply(request) : reply;
}

/** Replies that are sent as they are. */
function verbatim(reply: FixedReply): Rendered | undefined {
  if (isRaw(reply))
    return { status: reply.status ?? 200, headers: { ...reply.headers }, frames: [Buffer.from(reply.raw)] };
  if (!isStatus(reply)) return undefined;
  if (typeof reply.body !== 'string')
    return {
      status: reply.status,
      headers: { 'content-type': 'application/json', ...reply.headers },
      frames: [Buffer.from(JSON.stringify(reply.body))],
    };
  return {
    status: reply.status,
    headers: { 'content-type': 'text/plain; charset=utf-8', ...reply.headers },
    frames: [Buffer.from(reply.body)],
  };
}

function refused(vendor: VendorName, refusal: Refusal, stream = false): FoundAnswer {
  // Gemini labels even an error as a stream when one was asked for (gemini-stream-err400-b).
  const headers =
    vendor === 'google' ? { 'content-type': stream ? 'text/event-stream' : 'application/json; charset=UTF-8' } : {};
  return {
    answer: jsonAnswer(refusal.status, errorBody(vendor, refusal), headers),
    by: 'refusal',
    refusal: refusal.message,
  };
}
