/** Responses of the endpoints other than generation: models, token counts, stored responses, compaction. */
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { JsonObject, VendorName } from '../../business/ai/domain/types/VendorTypes';
import type { Operation } from '../exchange/findRoute';
import { profileName, vendorProfile } from '../vendorProfiles';
import type { ProfileName } from '../vendorProfiles';
import { asString, objectsIn } from '../json';
import type { Conversation } from '../model/Conversation';
import { countInputTokens } from '../model/countTokens';
import { createSignedToken } from '../signatures';
import { reject } from '../validation/Rejection';
import type { WireRequest } from '../wires/WireSimulator';
import { responsesProfile } from '../wires/responses/responsesProfiles';
import type { ResponseArchive } from '../wires/responses/ResponseArchive';
import { compactionUsage, ENCRYPTED_CONTENT_PREFIX } from '../wires/responses/writeResponses';
import { createErrorBody } from './createErrorBody';
import { renderJson } from './RenderedResponse';
import type { RenderedResponse } from './RenderedResponse';

/** The models in the vendor's list. Every other name is accepted too. */
const MODELS: Record<ProfileName, readonly string[]> = {
  openai: ['gpt-5-mini', 'gpt-4.1-mini'],
  azure_openai: ['gpt-5-mini', 'gpt-4.1-mini'],
  anthropic: ['claude-sonnet-4-6', 'claude-haiku-4-5'],
  google: ['gemini-2.5-flash', 'gemini-3-flash-preview'],
  grok: ['grok-4.3', 'grok-4-fast-non-reasoning'],
  groq: ['llama-3.3-70b-versatile', 'openai/gpt-oss-120b'],
  llama: ['meta-llama/Llama-3.3-70B-Instruct'],
  openai_compatible: ['simulated-model'],
};

/** The only model name that every vendor rejects. */
export const UNKNOWN_MODEL = 'no-such-model';

export function renderModels(vendor: VendorName, id: string | undefined): RenderedResponse {
  if (id === UNKNOWN_MODEL) return renderUnknownModel(vendor, id);
  const describe =
    { anthropic: anthropicModel, google: geminiModel }[vendorProfile(vendor).errors as string] ?? openaiModel;
  if (id !== undefined) return renderJson(200, describe(id));
  const models = MODELS[profileName(vendor)].map(describe);
  if (vendor === 'google') return renderJson(200, { models });
  if (vendor === 'anthropic')
    return renderJson(200, { data: models, has_more: false, first_id: models[0]?.id, last_id: models.at(-1)?.id });
  return renderJson(200, { object: 'list', data: models });
}

/** openai-chat, groq-err404-a, anthropic-err404-a, gemini-err404-a, azure-chat-err404-a */
export function renderUnknownModel(vendor: VendorName, id: string): RenderedResponse {
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
  }[vendorProfile(vendor).errors];
  const code = { openai: 'model_not_found', groq: 'model_not_found', azure: 'DeploymentNotFound' }[
    vendorProfile(vendor).errors as string
  ];
  return renderJson(404, createErrorBody(vendor, omitUndefined({ status: 404, message, code })));
}

export function renderTokenCount(conversation: Conversation): RenderedResponse {
  const count = countInputTokens(conversation);
  return renderJson(
    200,
    conversation.wire === 'gemini'
      ? { totalTokens: count, promptTokensDetails: [{ modality: 'TEXT', tokenCount: count }] }
      : { ...(conversation.wire === 'responses' ? { object: 'response.input_tokens' } : {}), input_tokens: count },
  );
}

export function renderStoredResponse(
  vendor: VendorName,
  { id, action }: Extract<Operation, { kind: 'stored-response' }>,
  archive: ResponseArchive,
): RenderedResponse {
  const stored = archive.get(vendor, id);
  if (stored === undefined)
    return renderJson(404, createErrorBody(vendor, { status: 404, message: `Response with id '${id}' not found.` }));
  switch (action) {
    case 'read':
      return renderJson(200, storedForm(vendor, archive.read(vendor, id) ?? stored.response));
    case 'input-items':
      return renderJson(200, { object: 'list', data: stored.input, has_more: false, first_id: null, last_id: null });
    case 'delete':
      archive.remove(vendor, id);
      return renderJson(200, vendor === 'google' ? {} : { id, object: 'response', deleted: true });
    case 'cancel': {
      const cancelled = archive.cancel(vendor, id);
      if (cancelled !== undefined) return renderJson(200, storedForm(vendor, cancelled));
      return renderJson(400, createErrorBody(vendor, reject('Cannot cancel a synchronous response.')));
    }
  }
}

/** Google's are interactions, which don't say whether they were made in the background. */
function storedForm(vendor: VendorName, response: JsonObject): JsonObject {
  if (vendor !== 'google') return response;
  const { background: _, output: __, completed_at: ___, ...interaction } = response;
  const isUnfinished = interaction.status === 'in_progress' || interaction.status === 'cancelled';
  return isUnfinished ? { ...interaction, steps: [], usage: undefined } : interaction;
}

/** The user's messages verbatim, then everything else as one encrypted summary. */
export function renderCompaction(request: WireRequest, conversation: Conversation, summary: string): RenderedResponse {
  const profile = responsesProfile(request.vendor);
  const responseId = profile.responseId();
  const id = profile.itemId('cmp', responseId, 0);
  const userMessages = objectsIn(request.body.input).filter((item) => item.role === 'user');
  const compaction: JsonObject = {
    id,
    type: 'compaction',
    encrypted_content: `${ENCRYPTED_CONTENT_PREFIX}${createSignedToken(request.vendor, { id, summary })}`,
  };
  const output = [
    ...userMessages.map((item) => ({
      type: 'message',
      status: 'completed',
      ...item,
      id: asString(item.id) || profile.itemId('msg', responseId, 0),
    })),
    compaction,
  ];
  return renderJson(200, {
    id: responseId,
    object: 'response.compaction',
    created_at: Math.floor(Date.now() / 1000),
    output,
    usage: compactionUsage(countInputTokens(conversation), summary),
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
