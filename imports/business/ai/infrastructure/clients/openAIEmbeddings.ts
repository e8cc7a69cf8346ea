/** OpenAI's `POST /embeddings`. https://platform.openai.com/docs/api-reference/embeddings/create */
import { isLLMError, LLMServerError, UnsupportedFeatureError } from '../../domain/errors/LLMErrors';
import { EMBEDDING_VENDORS } from '../../domain/errors/noEmbeddings';
import { fieldsOf, isList, isObject, readJson } from '../../domain/util/json';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { EmbeddingInput } from '../../domain/types/EmbeddingTypes';
import { VENDOR_LABELS } from '../../domain/types/VendorTypes';
import type { JsonObject, VendorName } from '../../domain/types/VendorTypes';
import { isPathMissing } from './isPathMissing';
import type { EmbeddingCall, EmbeddingReply, VendorHttpResponse } from './VendorClient';

/** Others may lack base64. */
const SENDS_BASE64: ReadonlySet<VendorName> = new Set(['openai', 'azure_openai']);

/** @throws UnsupportedFeatureError for input other than text and tokens, and for a host without this path */
export async function requestOpenAIEmbeddings(
  vendor: VendorName,
  call: EmbeddingCall,
  send: (body: JsonObject) => Promise<VendorHttpResponse>,
): Promise<EmbeddingReply> {
  try {
    return await readOpenAIEmbeddings(await send(openAIEmbeddingBody(vendor, call)), call);
  } catch (error) {
    if (!isLLMError(error) || !isPathMissing(error)) throw error;
    throw new UnsupportedFeatureError(
      `${VENDOR_LABELS[vendor]} has no embeddings at its base URL, so the model "${call.model}" cannot make any. ${EMBEDDING_VENDORS}`,
      { vendor, path: 'model', cause: error },
    );
  }
}

/** @throws UnsupportedFeatureError for input other than text and tokens */
function openAIEmbeddingBody(vendor: VendorName, call: EmbeddingCall): JsonObject {
  const { model, inputs, dimensions, encoding, user } = call;
  const written = inputs.map((each) => inputOf(each, vendor));
  return omitUndefined({
    model,
    input: written.length === 1 ? written[0] : written,
    dimensions,
    encoding_format: encoding === 'base64' && SENDS_BASE64.has(vendor) ? 'base64' : undefined,
    user,
  });
}

function inputOf(input: EmbeddingInput, vendor: VendorName): string | readonly number[] {
  if (typeof input === 'string' || isList(input)) return input;
  if (input.parts.every(({ text }) => typeof text === 'string')) return input.parts.map(({ text }) => text).join('\n');
  throw new UnsupportedFeatureError('Only models of Google make embeddings of anything but text.', {
    vendor,
    path: 'content.parts',
  });
}

/** @throws LLMServerError unless there is a vector for each input */
async function readOpenAIEmbeddings(
  response: VendorHttpResponse,
  { inputs: { length: count }, taskType, title }: EmbeddingCall,
): Promise<EmbeddingReply> {
  const { data, model, usage } = fieldsOf(readJson(await response.text()));
  const entries = isList(data) ? data.filter(isObject) : [];
  const vectors = entries
    .toSorted((a, b) => Number(a.index ?? 0) - Number(b.index ?? 0))
    .map(({ embedding }) => readVector(embedding));
  const tokens = fieldsOf(usage)['prompt_tokens'];
  return {
    vectors: checkVectors(vectors, count, response),
    ...(typeof model === 'string' ? { model } : {}),
    ...(typeof tokens === 'number' ? { inputTokens: tokens } : {}),
    warnings: [
      ...(taskType === undefined ? [] : [notSent('taskType')]),
      ...(title === undefined ? [] : [notSent('title')]),
    ],
    response,
  };
}

function notSent(name: string): string {
  return `Not sent: "${name}", which only Google's models have.`;
}

/** Base64 is of 32-bit floats, the least significant byte first. */
function readVector(embedding: unknown): readonly number[] | undefined {
  if (typeof embedding !== 'string')
    return isList(embedding) && embedding.every((value) => typeof value === 'number') ? embedding : undefined;
  const bytes = Buffer.from(embedding, 'base64');
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readFloatLE(index * 4));
}

/** @throws LLMServerError unless there is a vector for each input */
export function checkVectors(
  vectors: readonly (readonly number[] | undefined)[],
  count: number,
  { status }: Pick<VendorHttpResponse, 'status'>,
): readonly (readonly number[])[] {
  const found = vectors.filter((vector) => vector !== undefined && vector.length > 0);
  if (vectors.length === count && found.length === count) return found as readonly (readonly number[])[];
  throw new LLMServerError(`The vendor returned ${found.length} embeddings for ${count} inputs.`, { status });
}
