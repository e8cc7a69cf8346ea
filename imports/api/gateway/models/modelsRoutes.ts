/** `GET /v1/models` and `GET /v1beta/models`: the available models in the format of OpenAI, Anthropic or Google. */
import type { HttpRequest } from '../../http/HttpMessages';
import { invalid } from '../../../business/ai/domain/util/arguments';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import type { RouteHandler } from '../../http/RequestContext';
import type { ListedModel, ModelDirectory } from './ModelDirectory';
import { modelDetails } from './modelDetails';

/** The clients' types require a creation time, which is unknown. */
const UNKNOWN_TIME = 0;

type ModelsApi = 'chat_completions' | 'anthropic_messages' | 'gemini';

/** The clients of three APIs request `/v1/models`; the headers that their SDKs send distinguish them. */
export function modelsApiOf({ headers }: Pick<HttpRequest, 'headers'>): ModelsApi {
  if (headers['anthropic-version'] !== undefined) return 'anthropic_messages';
  return headers['x-goog-api-key'] === undefined ? 'chat_completions' : 'gemini';
}

type Query = HttpRequest['query'];

const LISTS: Readonly<Record<ModelsApi, (listed: readonly ListedModel[], query: Query) => JsonObject>> = {
  chat_completions: (listed) => ({ object: 'list', data: listed.map(openAIModel) }),
  anthropic_messages: anthropicPage,
  gemini: geminiPage,
};

const MODELS: Readonly<Record<ModelsApi, (model: ListedModel) => JsonObject>> = {
  chat_completions: openAIModel,
  anthropic_messages: anthropicModel,
  gemini: geminiModel,
};

/** @param apiOf the API whose format the client expects */
export function listModels(models: ModelDirectory, apiOf = modelsApiOf): RouteHandler {
  return async ({ principal, request, response }) => {
    response.json(LISTS[apiOf(request)](await models.list(principal), request.query));
  };
}

/** Answers every name that is valid in a request. @param apiOf the API whose format the client expects */
export function readModel(models: ModelDirectory, apiOf = modelsApiOf): RouteHandler {
  return async ({ principal, request, response }) => {
    // The router has decoded it.
    const id = String(request.params.id);
    response.json(MODELS[apiOf(request)](await models.find(principal, id)));
  };
}

/** https://platform.openai.com/docs/api-reference/models/object */
function openAIModel(model: ListedModel): JsonObject {
  const { capabilities } = model;
  return {
    id: model.id,
    object: 'model',
    created: UNKNOWN_TIME,
    owned_by: model.providerId,
    ...(capabilities && {
      context_length: capabilities.maxTokens,
      top_provider: {
        context_length: capabilities.maxTokens,
        max_completion_tokens: capabilities.maxOutputTokens,
      },
    }),
    ...modelDetails(model),
  };
}

/** https://ai.google.dev/api/models#Model */
function geminiModel(model: ListedModel): JsonObject {
  const { capabilities } = model;
  return {
    name: `models/${model.id}`,
    displayName: model.id,
    ...(capabilities && {
      inputTokenLimit: capabilities.maxTokens,
      outputTokenLimit: capabilities.maxOutputTokens,
      thinking: capabilities.supportsReasoning,
    }),
    supportedGenerationMethods:
      capabilities?.makesEmbeddings === true
        ? ['embedContent', 'batchEmbedContents']
        : ['generateContent', 'streamGenerateContent', 'countTokens'],
    ...modelDetails(model),
  };
}

/** https://ai.google.dev/api/models#method:-models.list */
function geminiPage(listed: readonly ListedModel[], { pageSize, pageToken }: Query): JsonObject {
  // Google answers with 1,000 at most, whatever is asked for.
  const size = pageSize === undefined ? 50 : Math.min(1_000, count(pageSize, 'pageSize', Number.MAX_SAFE_INTEGER));
  const start = pageToken === undefined || pageToken === '' ? 0 : indexOf(listed, pageToken, 'pageToken') + 1;
  const page = listed.slice(start, start + size);
  const last = page.at(-1);
  const isLast = last === undefined || start + size >= listed.length;
  return { models: page.map(geminiModel), ...(isLast ? {} : { nextPageToken: last.id }) };
}

/** https://platform.claude.com/docs/en/api/models-list */
function anthropicModel(model: ListedModel): JsonObject {
  const { capabilities } = model;
  return {
    type: 'model',
    id: model.id,
    display_name: model.id,
    created_at: new Date(UNKNOWN_TIME).toISOString(),
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
    line: null,
    max_input_tokens: capabilities?.maxTokens ?? null,
    max_tokens: capabilities?.maxOutputTokens ?? null,
    capabilities: null,
    ...modelDetails(model),
  };
}

/** https://platform.claude.com/docs/en/api/models-list */
function anthropicPage(listed: readonly ListedModel[], query: Query): JsonObject {
  const { limit, after_id: after, before_id: before } = query;
  if (after !== undefined && before !== undefined) throw invalid('before_id', 'cannot be combined with "after_id"');
  const size = limit === undefined ? 20 : count(limit, 'limit', 1_000);
  const end = before === undefined ? listed.length : indexOf(listed, before, 'before_id');
  const start =
    after === undefined ? Math.max(0, before === undefined ? 0 : end - size) : indexOf(listed, after, 'after_id') + 1;
  const page = listed.slice(start, Math.min(end, start + size));
  return {
    data: page.map(anthropicModel),
    has_more: before === undefined ? start + page.length < listed.length : start > 0,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  };
}

/** @throws LLMInvalidRequestError */
function count(value: unknown, path: string, maximum: number): number {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : 0;
  if (number < 1 || number > maximum) throw invalid(path, `must be a whole number from 1 to ${maximum}`);
  return number;
}

/** @throws LLMInvalidRequestError for a cursor that names no model */
function indexOf(listed: readonly ListedModel[], cursor: unknown, path: string): number {
  const index = listed.findIndex(({ id }) => id === cursor);
  if (index === -1) throw invalid(path, 'names no model of the list');
  return index;
}
