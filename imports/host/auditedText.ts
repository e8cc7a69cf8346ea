/** What the audit trail records of an argument, which is untrusted: short texts and numbers, and no secrets. */
import { REDACTED, redactSecrets } from '../business/ai/domain/errors/safeText';
import { fieldsOf, isObject } from '../business/ai/domain/util/json';
import type { AuditDetails } from '../business/ai/domain/types/AuditEntries';
import type { JsonObject } from '../business/ai/domain/types/VendorTypes';
import type { AuditRule } from './AuditRule';

const MAX_TEXT_LENGTH = 128;

/** The text of a field, bounded; undefined for anything else. */
export function textIn(argument: JsonObject, field: string): string | undefined {
  const value = argument[field];
  return typeof value === 'string' && value !== '' ? bounded(value) : undefined;
}

export function changedFields({ changed = [] }: AuditRule, argument: JsonObject): readonly string[] {
  return changed.filter((field) => argument[field] !== undefined);
}

export function detailsOf({ details = [] }: AuditRule, argument: JsonObject): AuditDetails {
  return Object.fromEntries(details.flatMap((field) => detailOf(field, argument[field])));
}

/** Lists an object's numbers one level deeper: `limits day calls`, since names of stored fields have no dots. */
function detailOf(path: string, value: unknown, depth = 0): readonly (readonly [string, string | number | boolean])[] {
  if (typeof value === 'string') return [[path, bounded(value)]];
  if (Number.isFinite(value) || typeof value === 'boolean') return [[path, value as number | boolean]];
  if (Array.isArray(value)) {
    const texts = value.filter((each): each is string => typeof each === 'string');
    return texts.length === 0 ? [] : [[path, bounded(texts.slice(0, 16).join(', '))]];
  }
  if (!isObject(value) || depth === MAX_DEPTH) return [];
  // Names that are not of the product's own could be anything.
  return NUMBERS.flatMap((name) => {
    const field = fieldsOf(value)[name];
    return typeof field === 'string' ? [] : detailOf(`${path} ${name}`, field, depth + 1);
  });
}

const MAX_DEPTH = 2;
const NUMBERS = ['day', 'month', 'calls', 'tokens', 'money'] as const;

/** People paste a secret where its name or id belongs. */
function maskSecrets(text: string): string {
  return redactSecrets(text).replace(API_TOKEN, REDACTED);
}

const API_TOKEN = /\bbolide_[\w-]{20,}/g;
/** Enough to recognize a secret that begins in what is kept. */
const MAX_READ_LENGTH = 1_000;

function bounded(text: string): string {
  const line = maskSecrets(text.slice(0, MAX_READ_LENGTH))
    .replace(/\p{Cc}/gu, ' ')
    .toWellFormed();
  return line.length <= MAX_TEXT_LENGTH ? line : `${line.slice(0, MAX_TEXT_LENGTH - 1).toWellFormed()}…`;
}
