/** The header that tells clients what guardrails did: a JSON array in ASCII, an entry for each guardrail and action. */
import type { GuardrailAnnotation } from '../../business/ai/domain/types/GuardrailAnnotation';
import { asciiJson } from '../http/warningsHeader';

export const GUARDRAILS_HEADER = 'x-bolide-guardrails';

/** Entries beyond are left out. */
const MAX_LENGTH = 2_048;

export function guardrailsHeader(annotations: readonly GuardrailAnnotation[]): string {
  const entries = new Map<string, object>();
  for (const { guardrail, stage, action } of annotations)
    entries.set(JSON.stringify([guardrail, stage, action]), { guardrail, stage, action });
  const shown = [...entries.values()];
  while (shown.length > 0 && asciiJson(shown).length > MAX_LENGTH) shown.pop();
  return asciiJson(shown);
}
