/**
 * Every field of a vendor's request that names an object which the vendor stores. A request with a shared key may name
 * only what its caller made: see `VendorObjects`.
 *
 * Paths: `a.b` is a field, `a[]` each element of a list, `a.*` each field, `**` everything below at any depth but what
 * tools were given and have found. `a[]<x|y>` only where `type` is one of these, `!b` only where `b` is absent.
 *
 * Left out, because nothing can be read by it: `diagnostics.previous_message_id` of Anthropic's API, which compares
 * fingerprints, and files that citations and results of searches only mention.
 */
import type { StoredObjectKind } from '../../domain/types/StoredObjects';
import type { WireName } from '../../domain/types/VendorTypes';

export interface StoredObjectField {
  readonly path: string;
  readonly kind: StoredObjectKind;
}

/** Images, audio and video of OpenAI's API, which are relayed as they are. */
export type RequestForm = WireName | 'media';

type Row = readonly [path: string, kind: StoredObjectKind];

/** https://platform.openai.com/docs/api-reference/responses/create#responses-create-tools; the second is xAI's. */
const TOOL_FIELDS: readonly Row[] = [
  ['vector_store_ids[]', 'vector store'],
  ['collection_ids[]', 'vector store'],
  ['container', 'container'],
  ['container.container_id', 'container'],
  ['container.file_ids[]', 'file'],
  ['container.skills[].skill_id', 'skill'],
  ['environment.container_id', 'container'],
  ['environment.file_ids[]', 'file'],
  ['environment.skills[].skill_id', 'skill'],
  ['input_image_mask.file_id', 'file'],
  ['file_id', 'file'],
  ['file_ids[]', 'file'],
  // With a token of the caller's own, a connector reaches what is the caller's.
  ['!authorization.connector_id', 'connector'],
  ['project_connection_id', 'connector'],
  ['tunnel_id', 'tunnel'],
];

/** Namespaces hold tools, and tools may come with the input. */
const RESPONSES_TOOLS = ['tools[]', 'tools[].tools[]', 'input[].tools[]', 'input[].tools[].tools[]'];

const ROWS: Readonly<Record<RequestForm, readonly Row[]>> = {
  responses: [
    ['previous_response_id', 'response'],
    ['conversation', 'conversation'],
    ['conversation.id', 'conversation'],
    ['prompt.id', 'prompt'],
    ['prompt.variables.*.file_id', 'file'],
    ['input[]<item_reference>.id', 'item'],
    // An image that is sent itself needs no look-up.
    ['input[]<image_generation_call>.!result.id', 'image'],
    ['input[]<code_interpreter_call>.container_id', 'container'],
    ['input[].environment.container_id', 'container'],
    ['input[].**.file_id', 'file'],
    ['input[].**.file_ids[]', 'file'],
    ...below(RESPONSES_TOOLS, TOOL_FIELDS),
  ],
  chat_completions: [
    ['previous_response_id', 'response'],
    ['messages[].audio.id', 'audio'],
    ['messages[].**.file_id', 'file'],
    ['messages[].**.file_ids[]', 'file'],
    ['audio.voice.id', 'voice'],
    // Azure's: https://learn.microsoft.com/en-us/azure/ai-foundry/openai/references/on-your-data
    ['data_sources[].parameters.index_name', 'data source'],
    ['data_sources[].parameters.name', 'data source'],
    ...below(['tools[]'], TOOL_FIELDS),
  ],
  // https://platform.claude.com/docs/en/api/beta/messages/create
  anthropic_messages: [
    ['thread.previous_message_id', 'thread'],
    ['container', 'container'],
    ['container.id', 'container'],
    // The others are the vendor's own.
    ['container.skills[]<custom>.skill_id', 'skill'],
    ['messages[].**.file_id', 'file'],
    ['system[].**.file_id', 'file'],
  ],
  // https://ai.google.dev/api/generate-content, and the fields of Vertex AI
  gemini: [
    ['cachedContent', 'cached content'],
    ['contents[].**.fileData.fileUri', 'file'],
    ['systemInstruction.**.fileData.fileUri', 'file'],
    ['tools[].fileSearch.fileSearchStoreNames[]', 'vector store'],
    ['tools[].fileSearch.retrievalResources[].ragStoreName', 'vector store'],
    ['tools[].retrieval.vertexAiSearch.datastore', 'data source'],
    ['tools[].retrieval.vertexAiSearch.engine', 'data source'],
    ['tools[].retrieval.vertexAiSearch.dataStoreSpecs[].dataStore', 'data source'],
    ['tools[].retrieval.vertexRagStore.ragCorpora[]', 'data source'],
    ['tools[].retrieval.vertexRagStore.ragResources[].ragCorpus', 'data source'],
    ['tools[].retrieval.vertexRagStore.ragResources[].ragFileIds[]', 'file'],
    ['tools[].**.apiKeySecret', 'secret'],
    ['tools[].**.apiKeySecretVersion', 'secret'],
    ['tools[].**.credentialSecret', 'secret'],
  ],
  // https://ai.google.dev/api/interactions-api
  interactions: [
    ['previous_interaction_id', 'response'],
    ['cached_content', 'cached content'],
    ['environment', 'container'],
    ['input.uri', 'file'],
    ['input[].**.uri', 'file'],
    ['tools[].file_search_store_names[]', 'vector store'],
    ['tools[].vertex_ai_search_config.datastores[]', 'data source'],
    ['tools[].vertex_ai_search_config.engine', 'data source'],
    ['tools[].rag_store_config.rag_resources[].rag_corpus', 'data source'],
    ['tools[].rag_store_config.rag_resources[].rag_file_ids[]', 'file'],
  ],
  media: [
    ['voice.id', 'voice'],
    ['image.file_id', 'file'],
    ['image[].file_id', 'file'],
    ['images[].file_id', 'file'],
    ['mask.file_id', 'file'],
    ['input_reference.file_id', 'file'],
  ],
};

export const STORED_OBJECT_FIELDS: Readonly<Record<RequestForm, readonly StoredObjectField[]>> = {
  responses: ROWS.responses.map(toField),
  chat_completions: ROWS.chat_completions.map(toField),
  anthropic_messages: ROWS.anthropic_messages.map(toField),
  gemini: ROWS.gemini.map(toField),
  interactions: ROWS.interactions.map(toField),
  media: ROWS.media.map(toField),
};

function toField([path, kind]: Row): StoredObjectField {
  return { path, kind };
}

function below(bases: readonly string[], rows: readonly Row[]): readonly Row[] {
  return bases.flatMap((base) => rows.map(([path, kind]): Row => [`${base}.${path}`, kind]));
}
