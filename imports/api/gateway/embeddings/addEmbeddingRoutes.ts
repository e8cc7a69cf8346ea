/** The routes of embeddings. */
import type { AddEndpoint, Endpoint } from '../../http/Endpoint';
import type { EmbeddingsApi } from './EmbeddingsApi';
import { GEMINI_EMBEDDINGS_PATH, geminiEmbeddingsApi } from './geminiEmbeddingsApi';
import { EMBEDDINGS, handleEmbeddings } from './handleEmbeddings';
import type { EmbeddingsPorts } from './handleEmbeddings';
import { AZURE_EMBEDDINGS_PATH, openAIEmbeddingsApi } from './openAIEmbeddingsApi';

/** OpenAI takes up to 300,000 tokens as numbers. They are checked as a list of tokens, so that each costs little. */
const MAX_VALUES = 400_000;

export function addEmbeddingRoutes(add: AddEndpoint, ports: EmbeddingsPorts): void {
  const create = (api: EmbeddingsApi): Endpoint => ({
    method: 'post',
    scope: 'generate',
    handler: handleEmbeddings(api, ports),
    isLogged: true,
    loggedApi: EMBEDDINGS,
    maxJsonValues: MAX_VALUES,
  });
  add('chat_completions', '/v1/embeddings', '/v1/embeddings', create(openAIEmbeddingsApi));
  add('chat_completions', AZURE_EMBEDDINGS_PATH, AZURE_EMBEDDINGS_PATH, create(openAIEmbeddingsApi));
  add('gemini', GEMINI_EMBEDDINGS_PATH, '/v1beta/models/:model:embedContent', create(geminiEmbeddingsApi));
}
