/** `GET /v1/models` and `GET /v1beta/models`: the available models in the format of OpenAI, Anthropic or Google. */
import type { Request } from 'express';
import { LLMModelNotFoundError } from '../../../business/ai/domain/errors/LLMErrors';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import type { RequestContext, RouteHandler } from '../../http/RequestContext';
import type { ListedModel, ModelDirectory } from './ModelDirectory';

/** The clients' types require a creation time, which is unknown. */
const UNKNOWN_TIME = 0;

type ModelsApi = 'chat_completions' | 'anthropic_messages' | 'gemini';

/** The clients of three APIs request `/v1/models`; the headers that their SDKs send distinguish them. */
export function modelsApiOf({ headers }: Pick<Request, 'headers'>): ModelsApi {
  if (headers['anthropic-version'] !== undefined) return 'anthropic_messages';
  return headers['x-goog-api-key'] === undefined ? 'chat_completions' : 'gemini';
}

const LISTS: Readonly<Record<ModelsApi, (listed: readonly ListedModel[]) => JsonObject>> = {
  chat_completions: (listed) => ({ object: 'list', data: listed.map(openAIModel) }),
  anthropic_messages: (listed) => ({
    data: listed.map(anthropicModel),
    has_more: false,
    first_id: listed[0]?.id ?? null,
    last_id: listed.at(-1)?.id ?? null,
  }),
  gemini: (listed) => ({ models: listed.map(geminiModel) }),
};

const MODELS: Readonly<Record<ModelsApi, (model: ListedModel) => JsonObject>> = {
  chat_completions: openAIModel,
  anthropic_messages: anthropicModel,
  gemini: geminiModel,
};

export function listModels(models: ModelDirectory): RouteHandler {
  return async ({ principal, request, response }) => {
    response.json(LISTS[modelsApiOf(request)](await models.list(principal)));
  };
}

export function readModel(models: ModelDirectory): RouteHandler {
  return async (context) => {
    context.response.json(MODELS[modelsApiOf(context.request)](await findModel(context, models)));
  };
}

/** https://ai.google.dev/api/models#method:-models.list */
export function listGeminiModels(models: ModelDirectory): RouteHandler {
  return async ({ principal, response }) => {
    response.json(LISTS.gemini(await models.list(principal)));
  };
}

/** https://ai.google.dev/api/models#method:-models.get */
export function readGeminiModel(models: ModelDirectory): RouteHandler {
  return async (context) => {
    context.response.json(geminiModel(await findModel(context, models)));
  };
}

/** @throws LLMModelNotFoundError */
async function findModel({ principal, request }: RequestContext, models: ModelDirectory): Promise<ListedModel> {
  // Express has decoded it.
  const id = String(request.params.id);
  const found = (await models.list(principal)).find((each) => each.id === id);
  if (found === undefined)
    throw new LLMModelNotFoundError(
      `Model "${id.slice(0, 256)}" not found. GET /v1/models lists the available models.`,
      { path: 'model' },
    );
  return found;
}

/** https://platform.openai.com/docs/api-reference/models/object */
function openAIModel({ id, providerId }: ListedModel): JsonObject {
  return { id, object: 'model', created: UNKNOWN_TIME, owned_by: providerId };
}

function geminiModel({ id }: ListedModel): JsonObject {
  return {
    name: `models/${id}`,
    displayName: id,
    supportedGenerationMethods: ['generateContent', 'streamGenerateContent'],
  };
}

/** https://platform.claude.com/docs/en/api/models-list */
function anthropicModel({ id }: ListedModel): JsonObject {
  return { type: 'model', id, display_name: id, created_at: new Date(UNKNOWN_TIME).toISOString() };
}
