/** The entry in the request log of a generation request that failed before it called a model. */
import type { HttpRequest } from './HttpMessages';
import { NO_USAGE } from '../../business/ai/domain/entities/Response';
import type { LLMError } from '../../business/ai/domain/errors/LLMErrors';
import { fieldsOf } from '../../business/ai/domain/util/json';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { RequestEntry } from '../../business/ai/domain/types/RequestRecords';
import type { ApiPrincipal } from '../auth/ApiPrincipal';
import { gatewayOrigin } from '../gateway/vendorCall';
import { errorResponse } from './errorResponse';
import type { ApiName } from './errorResponse';
import type { RequestDetails } from './RequestContext';

export interface Refusal {
  readonly api: ApiName;
  /** The API that the entry names. Default: `api`. */
  readonly loggedApi?: string | undefined;
  readonly principal: ApiPrincipal;
  readonly details: RequestDetails;
  /** By `performance.now()`. */
  readonly startedAt: number;
  /** Absent for a message on a WebSocket. */
  readonly requestId?: string;
  readonly request?: HttpRequest;
}

/** The client's field can have any length and content. */
const MAX_MODEL = 256;

export function refusedRequest(error: LLMError, refusal: Refusal): RequestEntry {
  const { api, loggedApi = api, principal, details, startedAt, requestId, request } = refusal;
  const { model: inBody, stream } = fieldsOf(request?.body);
  // Gemini's API has the model in the path.
  const named = inBody ?? request?.params['model'];
  const model = details.model ?? (typeof named === 'string' ? named.slice(0, MAX_MODEL) : undefined);
  const duration = Math.round((performance.now() - startedAt) * 10) / 10;
  const { status } = errorResponse(error, { ...details, api, requestId: requestId ?? '' });
  const { ownObjectsOnly: _, ...origin } = gatewayOrigin(loggedApi, principal, {
    model,
    ...omitUndefined({ requestId }),
  });
  return omitUndefined({
    ...origin,
    at: Date.now() - Math.round(duration),
    userId: principal.userId,
    isStream: stream === true,
    providerId: details.provider,
    state: 'failed',
    status,
    error: { code: error.code, message: error.message },
    attempts: [],
    duration,
    usage: NO_USAGE,
  });
}
