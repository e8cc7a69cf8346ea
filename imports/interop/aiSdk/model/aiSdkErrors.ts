/**
 * Errors that the AI SDK recognizes. Its `isInstance` checks read a marker in the global symbol registry rather
 * than the class (`AISDKError.hasMarker` in `@ai-sdk/provider`), so the package is not needed at run time.
 */
import {
  ERROR_TABLE,
  isLLMError,
  LLMAuthError,
  LLMModelNotFoundError,
  UnsupportedFeatureError,
} from '../../../business/ai/domain/errors/LLMErrors';
import type { LLMError } from '../../../business/ai/domain/errors/LLMErrors';
import { toClientError } from '../../../business/ai/domain/errors/clientError';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';

const MARKER = 'vercel.ai.error';

/** An error for which `<name without AI_>.isInstance` of `@ai-sdk/provider` is true. */
export class AISDKCompatibleError extends Error {
  constructor(name: string, message: string, fields: JsonObject, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = name;
    for (const marker of [MARKER, `${MARKER}.${name}`])
      Object.defineProperty(this, Symbol.for(marker), { value: true });
    Object.assign(this, fields);
  }
}

/** An `UnsupportedFunctionalityError`. @param functionality names the part, tool or setting */
export function unsupportedFunctionality(functionality: string, message: string, cause?: unknown): Error {
  return new AISDKCompatibleError('AI_UnsupportedFunctionalityError', message, { functionality }, cause);
}

export type ModelType = 'languageModel' | 'embeddingModel' | 'imageModel';

export function noSuchModel(modelId: string, modelType: ModelType, message: string, cause?: unknown): Error {
  return new AISDKCompatibleError('AI_NoSuchModelError', message, { modelId, modelType }, cause);
}

/**
 * The error that the AI SDK gets for one that a call threw. Without `isRetryable`, it is final even for errors that may
 * pass: the call has been retried by then, and `maxRetries` of the AI SDK would multiply the attempts. An aborted
 * call's reason is returned as it is, for the AI SDK looks for it.
 * @returns an APICallError, NoSuchModelError, LoadAPIKeyError or UnsupportedFunctionalityError for an LLMError
 */
export function toAISDKError(
  error: unknown,
  modelId: string,
  {
    isRetryable = false,
    modelType = 'languageModel',
  }: { readonly isRetryable?: boolean; readonly modelType?: ModelType } = {},
): unknown {
  if (!isLLMError(error) || error.code === 'aborted') return error;
  if (error instanceof UnsupportedFeatureError)
    return unsupportedFunctionality(error.path ?? 'request', error.message, error);
  if (error instanceof LLMModelNotFoundError && error.status === undefined)
    return noSuchModel(modelId, modelType, error.message, error);
  if (error instanceof LLMAuthError && error.status === undefined)
    return new AISDKCompatibleError('AI_LoadAPIKeyError', error.message, {}, error);
  return apiCallError(error, modelId, isRetryable);
}

/** An `APICallError`. `data` is what clients may see of the error, and `cause` the error itself. */
function apiCallError(error: LLMError, modelId: string, isRetryable: boolean): Error {
  const { status = ERROR_TABLE[error.code].http, vendorHeaders, vendorBody } = error;
  return new AISDKCompatibleError(
    'AI_APICallError',
    error.message,
    {
      url: `bolide:${modelId}`,
      requestBodyValues: {},
      statusCode: status,
      isRetryable,
      data: toClientError(error),
      ...omitUndefined({ responseHeaders: vendorHeaders, responseBody: vendorBody && JSON.stringify(vendorBody) }),
    },
    error,
  );
}
