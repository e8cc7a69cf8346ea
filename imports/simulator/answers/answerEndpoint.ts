/** The addresses beside generation: lists of models, token counts, stored responses, compaction. */
import type { JsonObject, VendorName } from '../../business/ai/domain/types/VendorTypes';
import type { Operation } from '../exchange/routes';
import { hostOf } from '../hosts';
import { asString, objectsIn } from '../json';
import type { Conversation } from '../model/Conversation';
import { inputTokens } from '../model/countTokens';
import { sealUp } from '../seals';
import { refuse } from '../validation/Refusal';
import type { WireRequest } from '../wires/WireSimulator';
import { responseHost } from '../wires/responses/responseHosts';
import type { ResponseArchive } from '../wires/responses/ResponseArchive';
import { compactionUsage, SEAL_MARK } from '../wires/responses/writeResponses';
import { summaryOf } from './answerTurn';
import { errorBody } from './errorBody';
import { jsonAnswer } from './Rendered';
import type { Rendered } from './Rendered';

/** Names under which a client finds something to choose; every other name is answered too. */
const MODELS: Record<VendorName, readonly string[]> = {
  openai: ['gpt-5-mini', 'gpt-4.1-mini'],
  azure_openai: ['gpt-5-mini', 'gpt-4.1-mini'],
  anthropic: ['claude-sonnet-4-6', 'claude-haiku-4-5'],
  google: ['gemini-2.5-flash', 'gemini-3-flash-preview'],
  grok: ['grok-4.3', 'grok-4-fast-non-reasoning'],
  groq: ['llama-3.3-70b-versatile', 'openai/gpt-oss-120b'],
  llama: ['meta-llama/Llama-3.3-70B-Instruct'],
  openai_compatible: ['simulated-model'],
};

/** The one name that no vendor has. */
export const NO_SUCH_MODEL = 'no-such-model';

export function modelsAnswer(vendor: VendorName, id: string | undefined): Rendered {
  if (id === NO_SUCH_MODEL) return noSuchModel(vendor, id);
  const describe = { anthropic: anthropicModel, google: geminiModel }[hostOf(vendor).errors as string] ?? openaiModel;
  if (id !== undefined) return jsonAnswer(200, describe(id));
  const models = MODELS[vendor].map(describe);
  if (vendor === 'google') return jsonAnswer(200, { models });
  if (vendor === 'anthropic')
    return jsonAnswer(200, { data: models, has_more: false, first_id: models[0]?.id, last_id: models.at(-1)?.id });
  return jsonAnswer(200, { object: 'list', data: models });
}

/** openai-chat, groq-err404-a, anthropic-err404-a, gemini-err404-a, azure-chat-err404-a */
export function noSuchModel(vendor: VendorName, id: string): Rendered {
  const message = {
    openai: `The model \`${id}\` does not exist or you do not have access to it.`,
    azure:
      'The API deployment for this resource does not exist. If you created the deployment within the last 5 minutes, please wait a moment and try again.',
    groq: `The model \`${id}\` does not exist or you do not have access to it.`,
    xai: `The model ${id} does not exist or your team does not have access to it.`,
    anthropic: `model: ${id}`,
    google: [
      `models/${id} is not found for API version v1beta, or is not supported for generateContent.`,
      'Call ListModels to see the list of available models and their supported methods.',
    ].join(' '),
  }[hostOf(vendor).errors];
  const code = { openai: 'model_not_found', groq: 'model_not_found', azure: 'DeploymentNotFound' }[
    hostOf(vendor).errors as string
  ];
  return jsonAnswer(404, errorBody(vendor, { status: 404, message, ...(code === undefined ? {} : { code }) }));
}

export function tokenCountAnswer(conversation: Conversation): Rendered {
  const count = inputTokens(conversation);
  return jsonAnswer(
    200,
    conversation.wire === 'gemini'
      ? { totalTokens: count, promptTokensDetails: [{ modality: 'TEXT', tokenCount: count }] }
      : { input_tokens: count },
  );
}

export function storedResponseAnswer(
  vendor: VendorName,
  { id, action }: Extract<Operation, { kind: 'stored-response' }>,
  archive: ResponseArchive,
): Rendered {
  const stored = archive.get(vendor, id);
  if (stored === undefined)
    return jsonAnswer(404, errorBody(vendor, { status: 404, message: `Response with id '${id}' not found.` }));
  switch (action) {
    case 'read':
      return jsonAnswer(200, stored.response);
    case 'input-items':
      return jsonAnswer(200, { object: 'list', data: stored.input, has_more: false, first_id: null, last_id: null });
    case 'delete':
      archive.remove(vendor, id);
      return jsonAnswer(200, { id, object: 'response', deleted: true });
    case 'cancel':
      return jsonAnswer(400, errorBody(vendor, refuse('Cannot cancel a synchronous response.')));
  }
}

/** The user's messages as they are, then everything else as one sealed summary. */
export function compactionAnswer(request: WireRequest, conversation: Conversation): Rendered {
  const host = responseHost(request.vendor);
  const summary = summaryOf(conversation);
  const responseId = host.responseId();
  const id = host.itemId('cmp', responseId, 0);
  const kept = objectsIn(request.body.input).filter((item) => item.role === 'user');
  const compaction: JsonObject = {
    id,
    type: 'compaction',
    encrypted_content: `${SEAL_MARK}${sealUp(request.vendor, { id, summary })}`,
  };
  const output = [
    ...kept.map((item) => ({
      type: 'message',
      status: 'completed',
      ...item,
      id: asString(item.id) || host.itemId('msg', responseId, 0),
    })),
    compaction,
  ];
  return jsonAnswer(200, {
    id: responseId,
    object: 'response.compaction',
    created_at: Math.floor(Date.now() / 1000),
    output,
    usage: compactionUsage(inputTokens(conversation), summary),
  });
}

function openaiModel(id: string): JsonObject {
  return { id, object: 'model', created: 1_735_689_600, owned_by: 'simulator' };
}

function anthropicModel(id: string): JsonObject {
  return { type: 'model', id, display_name: id, created_at: '2025-01-01T00:00:00Z' };
}

function geminiModel(id: string): JsonObject {
  return {
    name: `models/${id}`,
    displayName: id,
    supportedGenerationMethods: ['generateContent', 'countTokens'],
    inputTokenLimit: 1_000_000,
    outputTokenLimit: 65_536,
  };
}
