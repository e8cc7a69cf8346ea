/** Groups of routes of the vendors' APIs that the gateway does not serve, with the reason and what to use instead. */
import type { ApiName } from '../http/errorResponse';

interface UnservedGroup {
  readonly api: ApiName;
  /** The group's paths; every route below them is unserved. */
  readonly paths: readonly (string | RegExp)[];
  readonly message: string;
}

/** The paths of Google's API, whose version is a setting of its SDKs. */
function google(...groups: readonly string[]): readonly string[] {
  return groups.flatMap((group) => [`/v1beta/${group}`, `/v1alpha/${group}`]);
}

export const UNSERVED_GROUPS: readonly UnservedGroup[] = [
  // https://ai.google.dev/api/files
  {
    api: 'gemini',
    paths: [...google('files'), '/upload/v1beta', '/upload/v1alpha', '/download/v1beta', '/download/v1alpha'],
    message:
      "Files of Google's API are not relayed. Send the content inline (inlineData), or name a URL (fileData.fileUri).",
  },
  // https://ai.google.dev/api/interactions-api
  {
    api: 'gemini',
    paths: google('interactions', 'agents'),
    message:
      "Google's Interactions API is not served. Send the conversation to :generateContent, or to /v1/responses, which keeps it.",
  },
  // https://ai.google.dev/api/batch-api
  {
    api: 'gemini',
    paths: [
      ...google('batches'),
      /^\/v1(?:beta|alpha)?\/models\/[^/]+:(?:batchGenerateContent|asyncBatchEmbedContent)$/,
    ],
    message:
      "Batches of Google's API are not relayed. Send single requests, or have batches made by POST /api/batches, which Google's models can answer.",
  },
  // https://ai.google.dev/api/caching
  {
    api: 'gemini',
    paths: google('cachedContents'),
    message:
      "Cached contents of Google's API are not relayed. Send all contents with each request; Google caches what repeats itself.",
  },
  // https://ai.google.dev/api/all-methods
  {
    api: 'gemini',
    paths: [
      ...google('tunedModels', 'corpora', 'fileSearchStores', 'dynamic', 'operations'),
      /^\/v1(?:beta|alpha)?\/models\/[^/]+:(?:predict|predictLongRunning|generateText|generateMessage|generateAnswer)$/,
    ],
    message: "This part of Google's API is not served. Generate with :generateContent or :streamGenerateContent.",
  },
  // https://platform.openai.com/docs/api-reference
  {
    api: 'chat_completions',
    paths: ['/v1/uploads', '/v1/vector_stores', '/v1/containers', '/v1/skills'],
    message:
      "This part of OpenAI's API is not relayed. Upload files to /v1/files, or send their content in the request.",
  },
  {
    api: 'chat_completions',
    paths: ['/v1/assistants', '/v1/threads', '/v1/chatkit', '/v1/completions', '/v1/realtime'],
    message: "This part of OpenAI's API is not served. Use /v1/responses or /v1/chat/completions.",
  },
  {
    api: 'chat_completions',
    paths: ['/v1/videos', '/v1/fine_tuning', '/v1/evals', '/v1/organization', '/v1/projects'],
    message: "This part of OpenAI's API is not relayed. Ask the vendor directly, with a key of its own.",
  },
];
