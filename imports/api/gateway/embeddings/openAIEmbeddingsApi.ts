/** `POST /v1/embeddings`. https://platform.openai.com/docs/api-reference/embeddings/create */
import { integer, invalid, optional, required, text } from '../../../business/ai/domain/util/arguments';
import { readEmbeddingInputs } from '../../../business/ai/domain/entities/embeddingInput';
import { LLMInvalidRequestError } from '../../../business/ai/domain/errors/LLMErrors';
import { isObject } from '../../../business/ai/domain/util/json';
import type { EmbeddingsApi } from './EmbeddingsApi';

export const AZURE_EMBEDDINGS_PATH = '/openai/deployments/:deployment/embeddings';

const FIELDS = new Set(['model', 'input', 'encoding_format', 'dimensions', 'user']);
/** OpenAI's own limit. */
const MAX_INPUTS = 2_048;
const MAX_DIMENSIONS = 1_000_000;
const MAX_USER = 1_000;

export const openAIEmbeddingsApi: EmbeddingsApi = {
  wire: 'chat_completions',
  ownWires: ['chat_completions', 'responses'],
  read({ body: given, params }) {
    if (!isObject(given)) throw invalid('', 'must be an object');
    const body = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
    // Azure's clients name the model in the path.
    const model = params['deployment'] ?? body['model'];
    if (model === undefined) throw new LLMInvalidRequestError('You must provide a model.', { path: 'model' });
    if (typeof model !== 'string') throw invalid('model', 'must be a string');
    const input = required(body, 'input', readEmbeddingInputs);
    if (input.length > MAX_INPUTS) throw invalid('input', `must have at most ${MAX_INPUTS} entries`);
    const encoding = readEncoding(body['encoding_format']);
    const unknown = Object.keys(body).filter((name) => !FIELDS.has(name));
    return {
      options: {
        model,
        input,
        encoding,
        ...optional(body, 'dimensions', integer(1, MAX_DIMENSIONS)),
        ...optional(body, 'user', text(MAX_USER)),
      },
      warnings: unknown.map((name) => `Not sent: "${name.slice(0, 100)}", which is no field of the embeddings API.`),
      write: ({ model: used, embeddings, usage }) => ({
        object: 'list',
        data: embeddings.map((vector, index) => ({
          object: 'embedding',
          index,
          embedding: encoding === 'base64' ? toBase64(vector) : vector,
        })),
        model: used,
        usage: { prompt_tokens: usage.input_tokens, total_tokens: usage.total_tokens },
      }),
    };
  },
};

function readEncoding(value: unknown): 'float' | 'base64' {
  if (value === undefined || value === 'float') return 'float';
  if (value === 'base64') return value;
  throw invalid('encoding_format', 'must be "float" or "base64"');
}

/** 32-bit floats, the least significant byte first. */
function toBase64(vector: readonly number[]): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((value, index) => bytes.writeFloatLE(value, index * 4));
  return bytes.toString('base64');
}
