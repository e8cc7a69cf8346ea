/** Settings of what is remembered about users. */
import { SettingProblems } from '../../../host/settings/SettingProblems';
import { omitUndefined } from '../../ai/domain/omitUndefined';

export interface MemorySettings {
  /** Whether every message, and every run that does not say it, recalls what is remembered. Default: false. */
  readonly recall?: boolean;
  /** Whether models are offered `remember`, `search_memories` and `forget_memory`. Default: false. */
  readonly tools?: boolean;
  /** `provider/model` that makes vectors of memories. Absent: they are found by their words only. */
  readonly embeddingModel?: string;
  /** Milliseconds after the last save. Default: memories do not expire. */
  readonly maxAgeMs?: number;
  readonly maxPerUser?: number;
}

const DAY_MS = 86_400_000;
const MAX_DAYS = 36_500;
const MOST_PER_USER = 10_000;

/**
 * MEMORY_RECALL and MEMORY_TOOLS (`on` or `off`; default off), MEMORY_EMBEDDING_MODEL (`provider/model`; default none),
 * MEMORY_KEEP_DAYS (default `never`) and MEMORY_MAX_PER_USER (1,000).
 * @param valueOf returns the setting or variable with that name
 * @throws LLMInvalidRequestError that names every invalid variable
 */
export function readMemorySettings(valueOf: (name: string) => string | undefined): MemorySettings {
  const problems = new SettingProblems();
  const readSwitch = (name: string): boolean => {
    const value = valueOf(name)?.trim().toLowerCase() ?? 'off';
    if (value !== 'on' && value !== 'off') problems.add(name, `${name} must be on or off.`);
    return value === 'on';
  };
  const recall = readSwitch('MEMORY_RECALL');
  const tools = readSwitch('MEMORY_TOOLS');
  const embeddingModel = valueOf('MEMORY_EMBEDDING_MODEL')?.trim();
  if (embeddingModel !== undefined && !/^[^\s/]+\/\S+$/.test(embeddingModel))
    problems.add(
      'MEMORY_EMBEDDING_MODEL',
      'MEMORY_EMBEDDING_MODEL must be "provider/model", such as openai/text-embedding-3-small.',
    );
  const maxAgeMs = readAge(valueOf('MEMORY_KEEP_DAYS')?.trim().toLowerCase() ?? 'never', problems);
  const maxPerUser = Number(valueOf('MEMORY_MAX_PER_USER') ?? 1_000);
  if (!(Number.isSafeInteger(maxPerUser) && maxPerUser >= 1 && maxPerUser <= MOST_PER_USER))
    problems.add('MEMORY_MAX_PER_USER', `MEMORY_MAX_PER_USER must be an integer from 1 to ${MOST_PER_USER}.`);
  problems.throwIfAny();
  return omitUndefined({ recall, tools, embeddingModel, maxAgeMs, maxPerUser });
}

function readAge(text: string, problems: SettingProblems): number {
  const days = Number(text);
  if (text === 'never' || days === 0) return Infinity;
  if (!(days > 0 && days <= MAX_DAYS))
    problems.add('MEMORY_KEEP_DAYS', `MEMORY_KEEP_DAYS must be a number of days, at most ${MAX_DAYS}, or never.`);
  return days * DAY_MS;
}
