/**
 * Embeddings, whose vectors depend on nothing but the input. https://platform.openai.com/docs/api-reference/embeddings,
 * https://ai.google.dev/api/embeddings
 */
import { createHash } from 'node:crypto';
import type { JsonObject, VendorName } from '../../business/ai/domain/types/VendorTypes';
import { isObject, objectsIn } from '../json';
import { reject } from '../validation/Rejection';
import type { Rejection } from '../validation/Rejection';
import { vendorProfile } from '../vendorProfiles';
import { renderJson } from './RenderedResponse';
import type { RenderedResponse } from './RenderedResponse';

const DEFAULT_DIMENSIONS = 8;
const MAX_INPUTS = 2_048;
const MAX_TOKENS = 300_000;
const MAX_REQUESTS = 100;
const OPENAI_FIELDS = new Set(['model', 'input', 'encoding_format', 'dimensions', 'user']);
const GEMINI_FIELDS = new Set(['model', 'content', 'taskType', 'title', 'outputDimensionality']);
const TASK_TYPES = new Set([
  'SEMANTIC_SIMILARITY',
  'RETRIEVAL_QUERY',
  'RETRIEVAL_DOCUMENT',
  'CLASSIFICATION',
  'CLUSTERING',
  'CODE_RETRIEVAL_QUERY',
  'QUESTION_ANSWERING',
  'FACT_VERIFICATION',
]);

export function checkEmbeddings(vendor: VendorName, model: string, body: JsonObject): Rejection | undefined {
  return vendor === 'google' ? checkGemini(model, body) : checkOpenAI(vendor, model, body);
}

function checkOpenAI(vendor: VendorName, model: string, body: JsonObject): Rejection | undefined {
  const { input, dimensions, encoding_format: encoding } = body;
  if (model === '') return reject('you must provide a model parameter');
  const unknown = Object.keys(body).find((name) => !OPENAI_FIELDS.has(name));
  if (unknown !== undefined && vendorProfile(vendor).rejectsUnknownFields)
    return reject(`Unrecognized request argument supplied: ${unknown}`);
  const inputs = inputsOf(input);
  if (inputs === undefined) return reject("'$.input' is invalid. Please check the API reference.", { param: 'input' });
  if (inputs.some((each) => each.length === 0) || inputs.length === 0)
    return reject("'$.input' is invalid: it cannot be an empty string.", { param: 'input' });
  if (inputs.length > MAX_INPUTS) return reject("'$.input' is too long: at most 2048 items.", { param: 'input' });
  const tokens = inputs.reduce((sum, each) => sum + tokensIn(each), 0);
  if (tokens > MAX_TOKENS)
    return reject(`Requested ${tokens} tokens, max ${MAX_TOKENS} tokens per request`, { param: 'input' });
  if (dimensions !== undefined && (!Number.isInteger(dimensions) || Number(dimensions) < 1))
    return reject(`${JSON.stringify(dimensions)} is less than the minimum of 1 - 'dimensions'`, {
      param: 'dimensions',
    });
  if (dimensions !== undefined && model.includes('ada-002'))
    return reject('This model does not support specifying dimensions.', { param: 'dimensions' });
  return encoding === undefined || encoding === 'float' || encoding === 'base64'
    ? undefined
    : reject(`${JSON.stringify(encoding)} is not one of ['float', 'base64'] - 'encoding_format'`);
}

function checkGemini(model: string, body: JsonObject): Rejection | undefined {
  const requests = objectsIn(body.requests);
  if (requests.length === 0) return reject('* BatchEmbedContentsRequest.requests: requests is not specified');
  if (requests.length > MAX_REQUESTS)
    return reject('* BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch');
  for (const [index, request] of requests.entries()) {
    const unknown = Object.keys(request).find((name) => !GEMINI_FIELDS.has(name));
    if (unknown !== undefined)
      return reject(
        `Invalid JSON payload received. Unknown name "${unknown}" at 'requests[${index}]': Cannot find field.`,
      );
    if (request.model !== `models/${model}`)
      return reject(`* BatchEmbedContentsRequest.requests[${index}].model: must match the model in the URL`);
    if (request.taskType !== undefined && (typeof request.taskType !== 'string' || !TASK_TYPES.has(request.taskType)))
      return reject(`Invalid value at 'requests[${index}].task_type' (type.googleapis.com/…TaskType)`);
    if (textOf(request) === '') return reject(`* EmbedContentRequest.content: content is empty`);
  }
  return undefined;
}

export function renderEmbeddings(vendor: VendorName, model: string, body: JsonObject): RenderedResponse {
  if (vendor === 'google') {
    const requests = objectsIn(body.requests);
    const embeddings = requests.map((request) => ({
      values: vectorOf(`${JSON.stringify(request.taskType)} ${textOf(request)}`, request.outputDimensionality),
    }));
    const tokens = requests.reduce((sum, request) => sum + tokensOf(textOf(request)), 0);
    // gemini-embedding-001 reports no usage.
    return renderJson(200, {
      embeddings,
      ...(model.includes('embedding-2') ? { usageMetadata: { promptTokenCount: tokens } } : {}),
    });
  }
  const inputs = inputsOf(body.input) ?? [];
  const data = inputs.map((input, index) => {
    const vector = vectorOf(String(input), body.dimensions);
    const embedding = body.encoding_format === 'base64' ? toBase64(vector) : vector;
    return { object: 'embedding', index, embedding };
  });
  const tokens = inputs.reduce((sum, input) => sum + tokensIn(input), 0);
  return renderJson(200, { object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } });
}

function inputsOf(input: unknown): readonly (string | readonly number[])[] | undefined {
  if (typeof input === 'string') return [input];
  if (isTokens(input)) return [input];
  const list: readonly unknown[] = Array.isArray(input) ? input : [undefined];
  return list.every((each) => typeof each === 'string' || isTokens(each)) ? list : undefined;
}

function isTokens(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every((token) => Number.isInteger(token));
}

function textOf(request: JsonObject): string {
  const parts = isObject(request.content) ? objectsIn(request.content.parts) : [];
  return parts.map((part) => (typeof part.text === 'string' ? part.text : JSON.stringify(part))).join('');
}

function tokensIn(input: string | readonly number[]): number {
  return typeof input === 'string' ? tokensOf(input) : input.length;
}

function tokensOf(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length;
}

/** 32-bit floats from -1 to 1. */
function vectorOf(text: string, dimensions: unknown): number[] {
  return Array.from({ length: typeof dimensions === 'number' ? dimensions : DEFAULT_DIMENSIONS }, (_, index) =>
    Math.fround(createHash('sha256').update(`${index} ${text}`).digest().readInt32LE() / 2 ** 31),
  );
}

function toBase64(vector: readonly number[]): string {
  return Buffer.from(Float32Array.from(vector).buffer).toString('base64');
}
