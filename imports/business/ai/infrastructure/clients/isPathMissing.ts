/** Tells a host that lacks a path from one that lacks the model. */
import { LLMModelNotFoundError } from '../../domain/errors/LLMErrors';
import type { LLMError } from '../../domain/errors/LLMErrors';

/** Whether the host lacks the path, rather than the model. Azure has a sentence for its older API versions. */
export function isPathMissing(error: LLMError): boolean {
  const { status, vendorCode = '', message } = error;
  if (status === 400) return /responses api is enabled only for api-version/i.test(message);
  if (status !== 404 || !(error instanceof LLMModelNotFoundError)) return false;
  return !/model|deployment/i.test(`${vendorCode} ${message.replace(/\/\S*/g, '')}`);
}
