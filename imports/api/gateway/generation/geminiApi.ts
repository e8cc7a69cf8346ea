/**
 * `POST /v1beta/models/<model>:generateContent`, `:streamGenerateContent` and `:countTokens`; the API version is a
 * setting of the SDKs.
 * https://ai.google.dev/api/generate-content
 */
import { LLMInvalidRequestError } from '../../../business/ai/domain/errors/LLMErrors';
import { fieldsOf } from '../../../business/ai/domain/util/json';
import {
  checkParts,
  readGoogleRequest,
  writeGoogle,
} from '../../../business/ai/infrastructure/converters/google/gateway/GoogleGateway';
import { GOOGLE_EVENTS, JSON_ARRAY } from '../../http/ResponseSink';
import type { GatewayApi } from './GatewayApi';

/** The model may contain slashes, since it may start with a provider's id, and colons. */
export const GEMINI_PATH =
  /^\/v1(?:beta|alpha)?\/(?:models\/)?(?<model>.+):(?<verb>generateContent|streamGenerateContent)$/;
export const GEMINI_COUNT_PATH = /^\/v1(?:beta|alpha)?\/(?:models\/)?(?<model>.+):countTokens$/;

export const geminiApi: GatewayApi = {
  wire: 'gemini',
  read({ path, query, body }) {
    const { model = '', verb } = GEMINI_COUNT_PATH.exec(path)?.groups ?? GEMINI_PATH.exec(path)?.groups ?? {};
    const { stream: _, ...options } = readGoogleRequest(generationIn(path, body), decodeModel(model));
    if (verb !== 'streamGenerateContent') return { options };
    return { options, stream: query.alt === 'sse' ? GOOGLE_EVENTS : JSON_ARRAY };
  },
  refuse: ({ path, body }) => checkParts(generationIn(path, body)),
  write: writeGoogle,
};

/** A request to count may be complete, or have `contents` alone. */
function generationIn(path: string, body: unknown): unknown {
  return GEMINI_COUNT_PATH.test(path) ? (fieldsOf(body)['generateContentRequest'] ?? body) : body;
}

/** @param model from the path, where it may be percent-encoded */
export function decodeModel(model: string): string {
  try {
    return decodeURIComponent(model);
  } catch (cause) {
    throw new LLMInvalidRequestError('The model in the path is not valid percent-encoding.', { path: 'model', cause });
  }
}
