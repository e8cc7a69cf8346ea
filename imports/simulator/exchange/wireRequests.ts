/** The rules of the wires, and the requests that they apply to. */
import type { JsonObject, VendorName, WireName } from '../../business/ai/domain/types/VendorTypes';
import { asString } from '../json';
import type { RuleModel } from '../model/RuleModel';
import type { RecordedRequest } from '../RecordedRequest';
import { createErrorBody } from '../rendering/createErrorBody';
import { renderTurn } from '../rendering/renderTurn';
import { checkSchema } from '../validation/checkSchema';
import { checkWindow } from '../validation/checkWindow';
import type { Rejection } from '../validation/Rejection';
import type { SchemaName } from '../vendorProfiles';
import { anthropicWire } from '../wires/anthropic/anthropicWire';
import { chatWire } from '../wires/chat/chatWire';
import { geminiWire } from '../wires/gemini/geminiWire';
import { interactionsWire } from '../wires/interactions/interactionsWire';
import type { ResponseArchive } from '../wires/responses/ResponseArchive';
import { responsesWire } from '../wires/responses/responsesWire';
import type { WireRequest, WireSimulator } from '../wires/WireSimulator';

export const WIRES: Record<WireName, WireSimulator> = {
  responses: responsesWire,
  chat_completions: chatWire,
  anthropic_messages: anthropicWire,
  gemini: geminiWire,
  interactions: interactionsWire,
};

export function toWireRequest(
  vendor: VendorName,
  model: string | undefined,
  body: JsonObject,
  headers: RecordedRequest['headers'],
  archive: ResponseArchive,
): WireRequest {
  return {
    vendor,
    model: model ?? (asString(body.model) || asString(body.agent)),
    body: vendor === 'azure_openai' && model !== undefined ? { model, ...body } : body,
    headers,
    archive,
  };
}

export function checkGeneration(
  wireName: WireName,
  schema: SchemaName | undefined,
  request: WireRequest,
  acceptForeignSignatures: boolean,
): Rejection | undefined {
  const wire = WIRES[wireName];
  const rejection =
    wire.preflight?.(request) ??
    checkSchema(request.vendor, wireName, wire.normalize?.(request.body) ?? request.body, schema) ??
    wire.check(request);
  return rejection ?? (acceptForeignSignatures ? undefined : wire.checkSignatures(request));
}

export interface GenerationSources {
  readonly model: RuleModel;
  readonly archive: ResponseArchive;
  readonly acceptForeignSignatures: boolean;
  readonly contextWindow: number;
}

/** The response to a request that is part of a batch: the model's, or the rejection of the wire's rules. */
export function answerBatched(
  wireName: WireName,
  request: { readonly vendor: VendorName; readonly model?: string; readonly body: JsonObject },
  sources: GenerationSources,
): { readonly status: number; readonly body: JsonObject } {
  const { vendor, model, body } = request;
  const wire = WIRES[wireName];
  const wireRequest = toWireRequest(vendor, model, body, {}, sources.archive);
  const rejected = checkGeneration(wireName, undefined, wireRequest, sources.acceptForeignSignatures);
  const conversation = rejected === undefined ? wire.read(wireRequest) : undefined;
  const rejection =
    rejected ?? (conversation === undefined ? undefined : checkWindow(conversation, sources.contextWindow));
  if (rejection !== undefined || conversation === undefined)
    return {
      status: rejection?.status ?? 400,
      body: rejection === undefined ? {} : createErrorBody(vendor, rejection),
    };
  const turn = sources.model.respond(conversation);
  const { frames } = renderTurn(wire, wireRequest, conversation, turn, { stream: false, asArray: false });
  // What the simulator has written itself.
  return { status: 200, body: JSON.parse(Buffer.concat(frames).toString()) as JsonObject };
}
