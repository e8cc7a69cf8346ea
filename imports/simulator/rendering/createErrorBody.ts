/** Formats an error in the shape of each vendor's error responses, as recorded. */
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { JsonObject, VendorName } from '../../business/ai/domain/types/VendorTypes';
import { vendorProfile } from '../vendorProfiles';
import { randomAlphanumeric } from '../randomIds';
import type { Rejection } from '../validation/Rejection';

export function createErrorBody(vendor: VendorName, rejection: Rejection): JsonObject {
  const { status, message } = rejection;
  const type = rejection.type ?? 'invalid_request_error';
  switch (vendorProfile(vendor).errors) {
    case 'openai':
      return { error: { message, type, param: rejection.param ?? null, code: rejection.code ?? null } };
    case 'azure':
      // Azure's own gateway has its own format (azure-chat-err404-a); rejections of OpenAI's model server use OpenAI's.
      return status === 401 || (status === 404 && rejection.code === undefined)
        ? { error: { code: String(status), message } }
        : { error: { message, type, param: rejection.param ?? null, code: rejection.code ?? null } };
    case 'groq':
      return { error: omitUndefined({ message, type, code: rejection.code }) };
    case 'xai':
      // xai-chat-err400-a, xai-resp-err400-b
      return { code: rejection.code ?? XAI_CODE[status] ?? 'Client specified an invalid argument', error: message };
    case 'anthropic':
      return {
        type: 'error',
        error: { type: rejection.type ?? ANTHROPIC_TYPE[status] ?? 'invalid_request_error', message },
        request_id: `req_${randomAlphanumeric(24)}`,
      };
    case 'google':
      return {
        error: { code: status, message, status: rejection.code ?? GOOGLE_STATUS[status] ?? 'INVALID_ARGUMENT' },
      };
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
