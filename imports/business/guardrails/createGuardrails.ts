/** Creates the guardrails that settings turn on. */
import { invalid } from '../ai/domain/util/arguments';
import type { Guardrail } from '../ai/domain/interfaces/Guardrail';
import { isList, isObject } from '../ai/domain/util/json';
import type {
  BannedWordsSettings,
  GuardrailScope,
  GuardrailSettings,
  PiiSettings,
} from '../ai/domain/types/GuardrailSettings';
import type { JsonObject } from '../ai/domain/types/VendorTypes';
import { maximumSize } from './application/maximumSize';
import { PII_PATTERNS, PII_TYPES } from './application/piiPatterns';
import { promptInjection } from './application/promptInjection';
import { textGuardrail } from './application/textGuardrail';
import { wordPattern } from './application/wordPattern';

const SCOPES: readonly GuardrailScope[] = ['request', 'response'];
const MAX_WORDS = 10_000;
const MAX_WORD_LENGTH = 200;

/**
 * In the order in which they run: size, injection, words, personal data.
 * @param path of the settings, for errors
 * @throws LLMInvalidRequestError that names the invalid setting
 */
export function createGuardrails(settings: unknown, path = 'guardrails'): readonly Guardrail[] {
  const { maximumSize: size, promptInjection: injection, bannedWords, pii } = readSettings(settings, path);
  return [
    ...(size === undefined ? [] : [maximumSize(size)]),
    ...(injection === undefined ? [] : [promptInjection(injection)]),
    ...(bannedWords === undefined ? [] : [bannedWordsGuardrail(bannedWords)]),
    ...(pii === undefined ? [] : [piiGuardrail(pii)]),
  ];
}

function piiGuardrail(settings: PiiSettings): Guardrail {
  const { types = PII_TYPES, in: scopes = SCOPES } = settings;
  const ordered = PII_TYPES.filter((type) => types.includes(type));
  return textGuardrail({
    name: 'pii',
    settings: { types: ordered, scopes },
    scopes,
    patterns: () => ordered.map((type) => PII_PATTERNS[type]()),
  });
}

function bannedWordsGuardrail(settings: BannedWordsSettings): Guardrail {
  const { words, action = 'deny', in: scopes = SCOPES } = settings;
  const pattern = wordPattern(words, '***');
  return textGuardrail({
    name: 'banned-words',
    settings: { words, action, scopes },
    scopes,
    // Filters of several texts may be in use at once, but each search sets the position anew.
    patterns: () => [pattern],
    ...(action === 'deny' ? { decide: () => ({ deny: 'It contains a banned word.' }) } : {}),
  });
}

function readSettings(given: unknown, path: string): GuardrailSettings {
  const fields = readFields(given, path, ['pii', 'bannedWords', 'maximumSize', 'promptInjection']);
  const at = (name: string): string => `${path}.${name}`;
  if (fields['pii'] !== undefined) checkPii(fields['pii'], at('pii'));
  if (fields['bannedWords'] !== undefined) checkWords(fields['bannedWords'], at('bannedWords'));
  if (fields['maximumSize'] !== undefined) {
    const limits = readFields(fields['maximumSize'], at('maximumSize'), ['characters', 'tokens', 'attachmentBytes']);
    if (Object.keys(limits).length === 0) throw invalid(at('maximumSize'), 'must have at least one limit');
    for (const [name, limit] of Object.entries(limits))
      if (!Number.isSafeInteger(limit) || Number(limit) < 0)
        throw invalid(`${at('maximumSize')}.${name}`, 'must be an integer of at least 0');
  }
  if (fields['promptInjection'] !== undefined) {
    const place = at('promptInjection');
    const { action, threshold } = readFields(fields['promptInjection'], place, ['action', 'threshold']);
    checkChoice(action, ['deny', 'annotate'], `${place}.action`);
    if (threshold !== undefined && !(typeof threshold === 'number' && threshold > 0 && Number.isFinite(threshold)))
      throw invalid(`${place}.threshold`, 'must be a number above 0');
  }
  return fields;
}

function checkPii(given: unknown, path: string): void {
  const { types, in: scopes } = readFields(given, path, ['types', 'in']);
  checkNames(types, PII_TYPES, `${path}.types`);
  checkNames(scopes, SCOPES, `${path}.in`);
}

function checkWords(given: unknown, path: string): void {
  const { words, action, in: scopes } = readFields(given, path, ['words', 'action', 'in']);
  const isWord = (word: unknown): boolean =>
    typeof word === 'string' && word.trim() !== '' && word.length <= MAX_WORD_LENGTH;
  if (!isList(words) || words.length === 0 || words.length > MAX_WORDS || !words.every(isWord))
    throw invalid(
      `${path}.words`,
      `must be a list of 1 to ${MAX_WORDS} words, each of 1 to ${MAX_WORD_LENGTH} characters`,
    );
  checkChoice(action, ['deny', 'mask'], `${path}.action`);
  checkNames(scopes, SCOPES, `${path}.in`);
}

function checkNames(given: unknown, known: readonly string[], path: string): void {
  if (given === undefined) return;
  if (!isList(given) || given.length === 0 || !given.every((name) => typeof name === 'string' && known.includes(name)))
    throw invalid(path, `must be a list with one or more of: ${known.join(', ')}`);
}

function checkChoice(given: unknown, known: readonly string[], path: string): void {
  if (given === undefined || (typeof given === 'string' && known.includes(given))) return;
  throw invalid(path, `must be one of: ${known.join(', ')}`);
}

function readFields(given: unknown, path: string, known: readonly string[]): JsonObject {
  if (!isObject(given)) throw invalid(path, 'must be an object');
  for (const name of Object.keys(given))
    if (!known.includes(name)) throw invalid(`${path}.${name}`, `is unknown; expected one of: ${known.join(', ')}`);
  return given;
}
