/** A refusal or failure in the shape that each vendor gives its errors, as recorded. */
import type { JsonObject, VendorName } from '../../business/ai/domain/types/VendorTypes';
import { hostOf } from '../hosts';
import { letters } from '../ids';
import type { Refusal } from '../validation/Refusal';

export function errorBody(vendor: VendorName, refusal: Refusal): JsonObject {
  const { status, message } = refusal;
  const type = refusal.type ?? 'invalid_request_error';
  switch (hostOf(vendor).errors) {
    case 'openai':
      return { error: { message, type, param: refusal.param ?? null, code: refusal.code ?? null } };
    case 'azure':
      // Azure's own gate speaks for itself (azure-chat-err404-a); what OpenAI's model server refuses comes in
      // OpenAI's words.
      return status === 401
        ? { error: { code: '401', message } }
        : { error: { message, type, param: refusal.param ?? null, code: refusal.code ?? null } };
    case 'groq':
      return { error: { message, type, ...(refusal.code === undefined ? {} : { code: refusal.code }) } };
    case 'xai':
      // xai-chat-err400-a, xai-resp-err400-b
      return { code: refusal.code ?? XAI_CODE[status] ?? 'Client specified an invalid argument', error: message };
    case 'anthropic':
      return {
        type: 'error',
        error: { type: refusal.type ?? ANTHROPIC_TYPE[status] ?? 'invalid_request_error', message },
        request_id: `req_${letters(24)}`,
      };
    case 'google':
      return { error: { code: status, message, status: refusal.code ?? GOOGLE_STATUS[status] ?? 'INVALID_ARGUMENT' } };
  }
}

const XAI_CODE: Readonly<Record<number, string>> = {
  404: 'Some requested entity was not found',
  500: 'Internal error',
};

/** https://docs.anthropic.com/en/api/errors */
const ANTHROPIC_TYPE: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  529: 'overloaded_error',
};

/** https://cloud.google.com/apis/design/errors#handling_errors */
const GOOGLE_STATUS: Readonly<Record<number, string>> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};
