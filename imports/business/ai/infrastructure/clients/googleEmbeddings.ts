/** Gemini's `batchEmbedContents`. https://ai.google.dev/api/embeddings */
import { UnsupportedFeatureError } from '../../domain/errors/LLMErrors';
import { fieldsOf, isList, readJson } from '../../domain/util/json';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { EmbeddingInput } from '../../domain/types/EmbeddingTypes';
import type { JsonObject } from '../../domain/types/VendorTypes';
import { checkVectors } from './openAIEmbeddings';
import type { EmbeddingCall, EmbeddingReply, VendorHttpResponse } from './VendorClient';

/**
 * @param path the model's, such as `models/gemini-embedding-001`
 * @throws UnsupportedFeatureError for tokens
 */
export function googleEmbeddingBody(call: EmbeddingCall, path: string): JsonObject {
  const { inputs, dimensions, taskType, title } = call;
  return {
    requests: inputs.map((input) => ({
      model: path,
      content: { parts: partsOf(input) },
      ...omitUndefined({ taskType, title, outputDimensionality: dimensions }),
    })),
  };
}

function partsOf(input: EmbeddingInput): readonly JsonObject[] {
  if (typeof input === 'string') return [{ text: input }];
  if (!isList(input)) return input.parts;
  throw new UnsupportedFeatureError('Google makes embeddings of texts, not of tokens. Send texts in "input".', {
    vendor: 'google',
    path: 'input',
  });
}

/** @throws LLMServerError unless there is a vector for each input */
export async function readGoogleEmbeddings(response: VendorHttpResponse, count: number): Promise<EmbeddingReply> {
  const { embeddings, usageMetadata } = fieldsOf(readJson(await response.text()));
  const vectors = (isList(embeddings) ? embeddings : []).map((each) => {
    const { values } = fieldsOf(each);
    return isList(values) && values.every((value) => typeof value === 'number') ? values : undefined;
  });
  const tokens = fieldsOf(usageMetadata)['promptTokenCount'];
  return {
    vectors: checkVectors(vectors, count, response),
    ...(typeof tokens === 'number' ? { inputTokens: tokens } : {}),
    warnings: [],
    response,
  };
}
