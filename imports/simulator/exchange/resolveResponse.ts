/**
 * Finds the response to a request that is authenticated: from its URL and the wire's rules, then from a script, a
 * recording or the model.
 */
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { JsonObject, VendorName, WireName } from '../../business/ai/domain/types/VendorTypes';
import {
  renderCompaction,
  renderModels,
  renderUnknownModel,
  UNKNOWN_MODEL,
  renderStoredResponse,
  renderTokenCount,
} from '../rendering/renderEndpoint';
import { checkEmbeddings, renderEmbeddings } from '../rendering/renderEmbeddings';
import type { BatchBehaviour } from '../endpoints/BatchBehaviour';
import { renderCachedContents, withCachedContent } from '../endpoints/cachedContents';
import type { ObjectArchive } from '../endpoints/ObjectArchive';
import { renderOperation } from '../endpoints/renderOperation';
import type { EndpointOperation } from '../endpoints/renderOperation';
import { renderTurn, summarize, toModelTurn } from '../rendering/renderTurn';
import { createErrorBody } from '../rendering/createErrorBody';
import { renderJson } from '../rendering/RenderedResponse';
import type { RenderedResponse } from '../rendering/RenderedResponse';
import { asString, isObject } from '../json';
import type { Conversation } from '../model/Conversation';
import { countInputTokens } from '../model/countTokens';
import type { PromptCache } from '../model/PromptCache';
import type { RuleModel } from '../model/RuleModel';
import { isRawResponse, isStatusResponse } from '../ScriptedResponse';
import type {
  ScriptedRawResponse,
  ScriptedResponse,
  ScriptedStatusResponse,
  StaticResponse,
} from '../ScriptedResponse';
import type { Fault } from '../Fault';
import type { RecordedRequest } from '../RecordedRequest';
import { checkWindow } from '../validation/checkWindow';
import { reject } from '../validation/Rejection';
import type { Rejection } from '../validation/Rejection';
import { interactionError } from '../wires/interactions/writeInteractions';
import { isAnthropicCompaction, renderAnthropicCompaction } from '../wires/anthropic/anthropicCompaction';
import type { ResponseArchive } from '../wires/responses/ResponseArchive';
import type { Playlist } from './Playlist';
import type { ScriptQueue } from './ScriptQueue';
import type { Operation, Route } from './findRoute';
import { answerBatched, checkGeneration, toWireRequest, WIRES } from './wireRequests';

export interface ResponseSources {
  readonly script: ScriptQueue;
  readonly playlist: Playlist;
  readonly model: RuleModel;
  readonly archive: ResponseArchive;
  readonly objects: ObjectArchive;
  readonly batches: BatchBehaviour;
  readonly acceptForeignSignatures: boolean;
  readonly contextWindow: number;
  /** Absent: nothing is cached. */
  readonly promptCache?: PromptCache;
}

export interface ResolvedResponse {
  readonly response: RenderedResponse;
  readonly source: NonNullable<RecordedRequest['responseSource']>;
  readonly rejection?: string;
  readonly fault?: Fault;
}

export async function resolveResponse(
  { vendor, operation }: Route,
  request: RecordedRequest,
  sources: ResponseSources,
  bytes: Buffer,
): Promise<ResolvedResponse> {
  if (operation === undefined)
    return renderRejection(vendor, reject(`Unknown request URL: ${request.method} ${request.path}.`, { status: 404 }));
  if (operation.kind === 'models') return { response: renderModels(vendor, operation.id), source: 'endpoint' };
  if (operation.kind === 'embed') return resolveEmbeddings(vendor, operation.model, request, sources);
  if (operation.kind === 'files' || operation.kind === 'batches' || operation.kind === 'media')
    return resolveOperation(vendor, operation, request, sources, bytes);
  if (operation.kind === 'stored-response')
    return { response: renderStoredResponse(vendor, operation, sources.archive), source: 'endpoint' };
  if (operation.kind === 'cached-contents') return resolveCachedContents(vendor, operation.id, request, sources);
  const wireName = operation.kind === 'compact' ? 'responses' : operation.wire;
  // A recorded response is played for any request on its wire, even one that the rules would reject.
  const recording = operation.kind === 'generate' ? takeRecording(sources, vendor, wireName) : undefined;
  if (recording !== undefined) return { response: recording, source: 'recording' };

  const { body } = request;
  if (!isObject(body)) return renderRejection(vendor, reject('We could not parse the JSON body of your request.'));
  const wire = WIRES[wireName];
  const named = operation.kind === 'compact' ? undefined : operation.model;
  const received = toWireRequest(vendor, named, generationIn(body), request.headers, sources.archive);
  const expanded =
    wireName === 'gemini'
      ? withCachedContent(received, request.keyHash ?? '', sources.objects, sources.acceptForeignSignatures)
      : { request: received };
  if (!('request' in expanded)) return renderRejection(vendor, expanded, isStreaming(operation, body), wireName);
  const { request: wireRequest, cached } = expanded;
  // Token counting and compaction accept a subset of the fields of generation, and have no published schema here.
  const rejection =
    operation.kind === 'generate'
      ? checkGeneration(operation.wire, operation.schema, wireRequest, sources.acceptForeignSignatures)
      : undefined;
  if (rejection !== undefined) return renderRejection(vendor, rejection, isStreaming(operation, body), wireName);
  if (wireRequest.model === UNKNOWN_MODEL)
    return { response: renderUnknownModel(vendor, UNKNOWN_MODEL), source: 'endpoint' };
  const conversation = wire.read(wireRequest);
  if (operation.kind === 'count-tokens') return { response: renderTokenCount(conversation), source: 'endpoint' };
  if (operation.kind === 'compact')
    return {
      response: renderCompaction(wireRequest, conversation, summaryBy(sources.model, conversation)),
      source: 'endpoint',
    };
  const tooLong = checkWindow(conversation, sources.contextWindow);
  if (tooLong !== undefined) return renderRejection(vendor, tooLong, isStreaming(operation, body), wireName);
  if (isAnthropicCompaction(wireName, body))
    return {
      response: renderAnthropicCompaction(wireRequest, conversation, summaryBy(sources.model, conversation)),
      source: 'endpoint',
    };

  const form = { stream: isStreaming(operation, body), asArray: operation.asArray === true };
  const scripted = await evaluate(sources.script.take(vendor), request);
  if (scripted === undefined)
    sources.script.reportUnscripted(`${request.method} ${request.path} (request ${request.number})`);
  const fault = scripted?.fault === undefined ? {} : { fault: scripted.fault };
  if (scripted !== undefined && (isRawResponse(scripted) || isStatusResponse(scripted)))
    return { response: renderVerbatim(scripted), source: 'script', ...fault };
  const scriptedTurn = scripted === undefined ? undefined : toModelTurn(scripted);
  const turn = scriptedTurn ?? sources.model.respond(conversation);
  const usage = {
    ...sources.promptCache?.use(wireRequest, wireName, countInputTokens(conversation)),
    ...omitUndefined({ cached }),
    ...scripted?.usage,
  };
  const response = renderTurn(wire, wireRequest, conversation, turn, form, usage);
  return {
    response: { ...response, headers: { ...response.headers, ...scripted?.headers } },
    source: scriptedTurn === undefined ? 'model' : 'script',
    ...fault,
  };
}

function summaryBy(model: RuleModel, conversation: Conversation): string {
  return model.summarize?.(conversation) ?? summarize(conversation);
}

async function resolveEmbeddings(
  vendor: VendorName,
  model: string | undefined,
  request: RecordedRequest,
  { script }: ResponseSources,
): Promise<ResolvedResponse> {
  const { body } = request;
  if (!isObject(body)) return renderRejection(vendor, reject('We could not parse the JSON body of your request.'));
  const named = model ?? asString(body.model);
  if (named === UNKNOWN_MODEL) return { response: renderUnknownModel(vendor, named), source: 'endpoint' };
  const rejection = checkEmbeddings(vendor, named, body);
  if (rejection !== undefined) return renderRejection(vendor, rejection);
  const scripted = await evaluate(script.take(vendor), request);
  const fault = scripted?.fault === undefined ? {} : { fault: scripted.fault };
  if (scripted !== undefined && (isRawResponse(scripted) || isStatusResponse(scripted)))
    return { response: renderVerbatim(scripted), source: 'script', ...fault };
  return { response: renderEmbeddings(vendor, named, body), source: 'endpoint', ...fault };
}

function resolveCachedContents(
  vendor: VendorName,
  id: string | undefined,
  request: RecordedRequest,
  { archive, objects }: ResponseSources,
): ResolvedResponse {
  const { method, keyHash = '', body, headers } = request;
  const asked = { method, keyHash, body, ...omitUndefined({ id }) };
  const rendered = renderCachedContents(asked, { vendor, headers, archive }, objects);
  return 'frames' in rendered ? { response: rendered, source: 'endpoint' } : renderRejection(vendor, rendered);
}

/** Files, batches, images, audio. */
async function resolveOperation(
  vendor: VendorName,
  operation: EndpointOperation,
  request: RecordedRequest,
  sources: ResponseSources,
  bytes: Buffer,
): Promise<ResolvedResponse> {
  const { script, objects, batches } = sources;
  const scripted = await evaluate(script.take(vendor), request);
  const fault = scripted?.fault === undefined ? {} : { fault: scripted.fault };
  if (scripted !== undefined && (isRawResponse(scripted) || isStatusResponse(scripted)))
    return { response: renderVerbatim(scripted), source: 'script', ...fault };
  const { method, query, headers } = request;
  const contentType = headers['content-type'] ?? '';
  const origin = `http://${headers['host'] ?? 'localhost'}`;
  const rendered = renderOperation(
    operation,
    {
      ...{ vendor, method, query, contentType, bytes, origin, batches },
      answer: (wire, batched) => answerBatched(wire, { vendor, ...batched }, sources),
    },
    objects,
  );
  return 'frames' in rendered
    ? { response: rendered, source: 'endpoint', ...fault }
    : renderRejection(vendor, rendered);
}

/** Scripted responses take precedence over recordings. */
function takeRecording(
  { playlist, script }: ResponseSources,
  vendor: VendorName,
  wire: WireName,
): RenderedResponse | undefined {
  return script.has(vendor) ? undefined : playlist.take(wire);
}

/** Gemini's token counter takes a complete request in a field. */
function generationIn(body: JsonObject): JsonObject {
  return isObject(body.generateContentRequest) ? body.generateContentRequest : body;
}

function isStreaming(operation: Operation, body: JsonObject): boolean {
  return operation.kind === 'generate' && (operation.stream ?? body.stream === true);
}

async function evaluate(
  response: ScriptedResponse | undefined,
  request: RecordedRequest,
): Promise<StaticResponse | undefined> {
  return typeof response === 'function' ? response(request) : response;
}

function renderVerbatim(response: ScriptedRawResponse | ScriptedStatusResponse): RenderedResponse {
  if (isRawResponse(response))
    return { status: response.status ?? 200, headers: { ...response.headers }, frames: [Buffer.from(response.raw)] };
  const { status, body, headers } = response;
  if (typeof body !== 'string')
    return {
      status,
      headers: { 'content-type': 'application/json', ...headers },
      frames: [Buffer.from(JSON.stringify(body))],
    };
  return { status, headers: { 'content-type': 'text/plain; charset=utf-8', ...headers }, frames: [Buffer.from(body)] };
}

function renderRejection(vendor: VendorName, rejection: Rejection, stream = false, wire?: WireName): ResolvedResponse {
  // Gemini labels even an error as a stream if a stream was requested (gemini-stream-err400-b).
  const headers =
    vendor === 'google' ? { 'content-type': stream ? 'text/event-stream' : 'application/json; charset=UTF-8' } : {};
  return {
    response: renderJson(
      rejection.status,
      wire === 'interactions' ? interactionError(rejection) : createErrorBody(vendor, rejection),
      headers,
    ),
    source: 'rejection',
    rejection: rejection.message,
  };
}
