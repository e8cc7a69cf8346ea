/** `GET /v1/models` and `GET /v1beta/models`: the available models in the format of OpenAI, Anthropic or Google. */
import { LLMModelNotFoundError } from '../../../business/ai/domain/errors/LLMErrors';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import type { RequestContext, RouteHandler } from '../../http/RequestContext';
import type { ListedModel, ModelDirectory } from './ModelDirectory';

/** The clients' types require a creation time, which is unknown. */
const UNKNOWN_TIME = 0;

export function listModels(models: ModelDirectory): RouteHandler {
  return async ({ principal, request, response }) => {
    const listed = await models.list(principal);
    if (request.headers['anthropic-version'] === undefined) {
      response.json({ object: 'list', data: listed.map(openAIModel) });
      return;
    }
    const data = listed.map(anthropicModel);
    response.json({ data, has_more: false, first_id: listed[0]?.id ?? null, last_id: listed.at(-1)?.id ?? null });
  };
}

export function readModel(models: ModelDirectory): RouteHandler {
  return async (context) => {
    const { request, response } = context;
    const found = await findModel(context, models);
    response.json(request.headers['anthropic-version'] === undefined ? openAIModel(found) : anthropicModel(found));
  };
}

/** https://ai.google.dev/api/models#method:-models.list */
export function listGeminiModels(models: ModelDirectory): RouteHandler {
  return async ({ principal, response }) => {
    const listed = await models.list(principal);
    response.json({ models: listed.map(geminiModel) });
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
