/** The setting of the guardrails that Bolide has itself. */
import { createGuardrails } from '../createGuardrails';
import { LLMInvalidRequestError } from '../../ai/domain/errors/LLMErrors';
import type { Guardrail } from '../../ai/domain/interfaces/Guardrail';

/**
 * GUARDRAILS: JSON of `GuardrailSettings`. Default: none.
 * @param given the JSON, or what it stands for
 * @throws LLMInvalidRequestError that names the invalid setting
 */
export function readGuardrails(given: unknown): readonly Guardrail[] {
  if (given === undefined || given === '') return [];
  return createGuardrails(typeof given === 'string' ? parsed(given) : given, 'GUARDRAILS');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new LLMInvalidRequestError('GUARDRAILS must be JSON, such as {"pii":{}}.', { path: 'GUARDRAILS', cause });
  }
}
