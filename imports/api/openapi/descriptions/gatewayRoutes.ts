/** The vendors' APIs. Only the main fields are stated; all others of the vendor's API are accepted, too. */
import {
  ANYTHING,
  COUNT,
  described,
  either,
  FLAG,
  listOf,
  NUMBER,
  OBJECT,
  objectOf,
  oneOf,
  TEXT,
} from '../jsonSchemas';
import { RELAY_ROUTES } from './relayRoutes';
import type { RouteDescription, RouteDescriptions, Schema } from '../RouteDescription';

const MODEL = described(TEXT, 'The model as `provider/model`, a provider alone for its default model, or an alias.');
const GEMINI_PATH = { model: described(TEXT, 'As `model` elsewhere; may contain slashes.') };
const STREAM = described(FLAG, 'Responds with server-sent events.');

const RESPONSE = objectOf(
  { id: TEXT, object: { const: 'response' }, status: TEXT, model: TEXT, output: listOf(OBJECT) },
  { usage: { type: ['object', 'null'] }, error: { type: ['object', 'null'] } },
);
const RESPONSE_FIELDS = {
  input: either(TEXT, listOf(OBJECT)),
  instructions: { type: ['string', 'null'] },
  previous_response_id: { type: ['string', 'null'] },
  conversation: either(TEXT, objectOf({ id: TEXT }), { type: 'null' }),
  tools: listOf(OBJECT),
  tool_choice: ANYTHING,
  text: OBJECT,
  reasoning: { type: ['object', 'null'] },
};
const RESPONSE_BODY = objectOf(
  { model: MODEL },
  {
    ...RESPONSE_FIELDS,
    max_output_tokens: { type: ['integer', 'null'] },
    temperature: { type: ['number', 'null'] },
    store: { type: ['boolean', 'null'] },
    background: { type: ['boolean', 'null'] },
    stream: STREAM,
  },
);

const CHAT: RouteDescription = {
  summary: 'Create a chat completion',
  body: objectOf(
    { model: MODEL, messages: listOf(objectOf({ role: TEXT })) },
    {
      tools: listOf(OBJECT),
      tool_choice: ANYTHING,
      response_format: OBJECT,
      max_completion_tokens: { type: ['integer', 'null'] },
      temperature: { type: ['number', 'null'] },
      stop: either(TEXT, listOf(TEXT), { type: 'null' }),
      stream: { type: ['boolean', 'null'] },
    },
  ),
  example: { model: 'anthropic', messages: [{ role: 'user', content: 'Hello!' }] },
  result: objectOf({ id: TEXT, choices: listOf(OBJECT), model: TEXT }, { usage: OBJECT }),
  streams: 'on-request',
};
/** The path names the model. */
const AZURE_CHAT_BODY: Schema = { ...CHAT.body, required: ['messages'] };

const MESSAGES_FIELDS = {
  system: either(TEXT, listOf(OBJECT)),
  tools: listOf(OBJECT),
  tool_choice: OBJECT,
  thinking: OBJECT,
};
const CONTENTS = either(listOf(OBJECT), OBJECT);
const EMBEDDING_BODY = {
  input: either(TEXT, listOf(either(TEXT, COUNT, listOf(COUNT)))),
};
const EMBEDDINGS_RESULT = objectOf({ object: { const: 'list' }, data: listOf(OBJECT), model: TEXT }, { usage: OBJECT });

export const GATEWAY_ROUTES: RouteDescriptions = {
  'POST /v1/responses': {
    summary: 'Create a response',
    description:
      'The same path upgrades to a WebSocket, over which each `response.create` message is answered with the events of a stream.',
    body: RESPONSE_BODY,
    example: { model: 'anthropic', input: 'Hello!' },
    result: RESPONSE,
    streams: 'on-request',
  },
  'POST /v1/responses/input_tokens': {
    summary: 'Count the input tokens of a response',
    body: objectOf({ model: MODEL }, RESPONSE_FIELDS),
    example: { model: 'groq', input: 'Hello!' },
    result: objectOf({ object: { const: 'response.input_tokens' }, input_tokens: COUNT }),
  },
  'POST /v1/responses/compact': {
    summary: 'Compact a conversation',
    body: objectOf({ model: MODEL }, RESPONSE_FIELDS),
    example: { model: 'anthropic', input: 'Hello!' },
    result: objectOf({ id: TEXT, object: { const: 'response.compaction' }, output: listOf(OBJECT) }, { usage: OBJECT }),
  },
  'GET /v1/responses/:id': {
    summary: 'Read a stored response',
    description: 'With `stream`, the events of a response that was created with `background` and `stream`.',
    query: { stream: FLAG, starting_after: COUNT },
    result: RESPONSE,
    streams: 'on-request',
  },
  'DELETE /v1/responses/:id': {
    summary: 'Delete a stored response',
    result: objectOf({ id: TEXT, deleted: FLAG }),
  },
  'POST /v1/responses/:id/cancel': { summary: 'Cancel a response in the background', result: RESPONSE },
  'GET /v1/responses/:id/input_items': {
    summary: 'List the items of a stored response’s request',
    query: { limit: { type: 'integer', minimum: 1, maximum: 100 }, order: oneOf('asc', 'desc'), after: TEXT },
    result: objectOf({ object: { const: 'list' }, data: listOf(OBJECT), has_more: FLAG }),
  },
  'POST /v1/chat/completions': CHAT,
  'POST /openai/deployments/:deployment/chat/completions': {
    ...CHAT,
    summary: 'Create a chat completion, for Azure’s clients',
    description: 'The deployment is the model.',
    body: AZURE_CHAT_BODY,
    example: { messages: [{ role: 'user', content: 'Hello!' }] },
  },
  'POST /v1/messages': {
    summary: 'Create a message',
    body: objectOf(
      { model: MODEL, max_tokens: COUNT, messages: listOf(objectOf({ role: TEXT, content: ANYTHING })) },
      { ...MESSAGES_FIELDS, stop_sequences: listOf(TEXT), temperature: NUMBER, stream: STREAM },
    ),
    example: { model: 'openai', max_tokens: 200, messages: [{ role: 'user', content: 'Hello!' }] },
    result: objectOf({
      id: TEXT,
      type: { const: 'message' },
      role: { const: 'assistant' },
      content: listOf(OBJECT),
      model: TEXT,
      stop_reason: { type: ['string', 'null'] },
      usage: OBJECT,
    }),
    streams: 'on-request',
  },
  'POST /v1/messages/count_tokens': {
    summary: 'Count the input tokens of a message',
    body: objectOf({ model: MODEL, messages: listOf(OBJECT) }, MESSAGES_FIELDS),
    example: { model: 'groq', messages: [{ role: 'user', content: 'Hello!' }] },
    result: objectOf({ input_tokens: COUNT }),
  },
  'POST /v1beta/models/:model': {
    summary: 'Generate content',
    description: 'Also below `/v1` and `/v1alpha`. `streamGenerateContent` streams, with `?alt=sse` as events.',
    path: '/v1beta/models/{model}:{verb}',
    parameters: { ...GEMINI_PATH, verb: oneOf('generateContent', 'streamGenerateContent') },
    query: { alt: oneOf('json', 'sse') },
    body: objectOf(
      { contents: CONTENTS },
      { systemInstruction: either(OBJECT, TEXT), tools: listOf(OBJECT), toolConfig: OBJECT, generationConfig: OBJECT },
    ),
    example: { contents: [{ role: 'user', parts: [{ text: 'Hello!' }] }] },
    result: objectOf({}, { candidates: listOf(OBJECT), usageMetadata: OBJECT, modelVersion: TEXT, responseId: TEXT }),
    streams: 'on-request',
  },
  'POST /v1beta/models/:model:countTokens': {
    summary: 'Count the tokens of contents',
    description: 'Also below `/v1` and `/v1alpha`.',
    parameters: GEMINI_PATH,
    body: objectOf({}, { contents: CONTENTS, generateContentRequest: OBJECT }),
    example: { contents: [{ role: 'user', parts: [{ text: 'Hello!' }] }] },
    result: objectOf({ totalTokens: COUNT }),
  },
  'POST /v1/embeddings': {
    summary: 'Create embeddings',
    body: objectOf({ model: MODEL, ...EMBEDDING_BODY }, { dimensions: COUNT, encoding_format: TEXT }),
    example: { model: 'openai/text-embedding-3-small', input: 'Hello!' },
    result: EMBEDDINGS_RESULT,
  },
  'POST /openai/deployments/:deployment/embeddings': {
    summary: 'Create embeddings, for Azure’s clients',
    description: 'The deployment is the model.',
    body: objectOf(EMBEDDING_BODY, { dimensions: COUNT }),
    example: { input: 'Hello!' },
    result: EMBEDDINGS_RESULT,
  },
  'POST /v1beta/models/:model:embedContent': {
    summary: 'Embed contents',
    description: 'Also below `/v1` and `/v1alpha`. `batchEmbedContents` takes a list of such requests as `requests`.',
    parameters: GEMINI_PATH,
    body: objectOf({}, { content: OBJECT, taskType: TEXT, outputDimensionality: COUNT, requests: listOf(OBJECT) }),
    example: { content: { parts: [{ text: 'Hello!' }] } },
    result: objectOf({}, { embedding: OBJECT, embeddings: listOf(OBJECT) }),
  },
  'GET /v1/models': {
    summary: 'List the models that the caller may request',
    description:
      'In OpenAI’s form; in Anthropic’s with the header `anthropic-version`, in Google’s with `x-goog-api-key`.',
    result: objectOf({}, { data: listOf(OBJECT), models: listOf(OBJECT) }),
  },
  'GET /v1/models/:id': {
    summary: 'Read a model',
    parameters: { id: described(TEXT, 'Any name that works in a request; may contain slashes.') },
    result: OBJECT,
  },
  'GET /v1beta/models': {
    summary: 'List the models in Google’s form',
    description: 'Also below `/v1alpha`.',
    result: objectOf({ models: listOf(OBJECT) }, { nextPageToken: TEXT }),
  },
  'GET /v1beta/models/:id': {
    summary: 'Read a model in Google’s form',
    description: 'Also below `/v1alpha`.',
    parameters: { id: GEMINI_PATH.model },
    result: objectOf({ name: TEXT }),
  },
  ...RELAY_ROUTES,
};
