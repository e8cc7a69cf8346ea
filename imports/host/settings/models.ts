/** The operator's model entries: `Meteor.settings.ai.models`, and LLM_MODELS, which is JSON or a JSON file's path. */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import { VENDORS } from '../../business/ai/domain/types/VendorTypes';
import type { ModelOverrides } from '../../business/ai/infrastructure/vendors/readModelOverrides';
import { readModelOverrides } from '../../business/ai/infrastructure/vendors/readModelOverrides';
import { readJsonVariable } from './readJsonVariable';

export const MODELS_VARIABLE = 'LLM_MODELS';

/**
 * @param settings `Meteor.settings.ai.models`; its entries precede those of the variable
 * @param problems receives a description of everything that is invalid
 */
export function readModelSettings(
  settings: unknown,
  variable: string | undefined,
  problems: string[],
): ModelOverrides | undefined {
  const given = variable === undefined ? undefined : readJsonVariable(MODELS_VARIABLE, variable, problems);
  const first = readOverrides(settings, 'Meteor.settings.ai.models', problems);
  const second = readOverrides(given, MODELS_VARIABLE, problems);
  if (first === undefined || second === undefined) return first ?? second;
  return Object.fromEntries(
    VENDORS.map((vendor) => [vendor, [...(first[vendor] ?? []), ...(second[vendor] ?? [])]] as const),
  );
}

function readOverrides(given: unknown, source: string, problems: string[]): ModelOverrides | undefined {
  if (given === undefined || given === null) return undefined;
  try {
    return readModelOverrides(given, new Date().toISOString().slice(0, 10));
  } catch (error) {
    if (!(error instanceof LLMInvalidRequestError)) throw error;
    problems.push(`${source}: ${error.message.replace(/\.$/, '')}`);
    return undefined;
  }
}
