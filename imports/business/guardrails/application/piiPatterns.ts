/** Patterns of personal data. They find its usual forms, and can't find every one. */
import { TextPattern } from './TextPattern';
import type { PiiType } from '../../ai/domain/types/GuardrailSettings';
import { parseUrl } from '../../ai/domain/util/parseUrl';

/** In the order in which they take precedence. */
export const PII_TYPES: readonly PiiType[] = ['email', 'iban', 'credit_card', 'ssn', 'ip', 'phone'];

const EMAIL_DOMAIN = /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,61}[\p{L}\p{N}])?\.)+\p{L}{2,63}/u;

/** New instances, since regular expressions keep a position. */
export const PII_PATTERNS: Readonly<Record<PiiType, () => TextPattern>> = {
  email: () =>
    new TextPattern({
      type: 'email',
      replacement: '[EMAIL]',
      candidate: /[\p{L}\p{N}._%+'-]{1,64}@[\p{L}\p{N}.-]{1,253}/gu,
      open: /[\p{L}\p{N}._%+'-]{1,64}(?:@[\p{L}\p{N}.-]{0,253})?$/gu,
      accept(candidate) {
        const domainAt = candidate.indexOf('@') + 1;
        const domain = EMAIL_DOMAIN.exec(candidate.slice(domainAt))?.[0];
        return domain === undefined ? 0 : domainAt + domain.length;
      },
    }),
  iban: () =>
    new TextPattern({
      type: 'iban',
      replacement: '[IBAN]',
      candidate: /(?<![\p{L}\p{N}])[A-Z]{2}\d{2}(?: ?[A-Z\d]){11,30}/gu,
      open: /(?<![\p{L}\p{N}])[A-Z](?:[A-Z](?:\d(?:\d(?: ?[A-Z\d]){0,30} ?)?)?)?$/gu,
      // What follows in capitals may look like a part of it.
      accept: (candidate) => longestPart(candidate, 15, isIban),
    }),
  credit_card: () =>
    new TextPattern({
      type: 'credit_card',
      replacement: '[CREDIT_CARD]',
      candidate: /(?<!\d)[2-6](?:[ -]?\d){12,18}(?!\d)/gu,
      open: /(?<!\d)[2-6](?:[ -]?\d){0,18}[ -]?$/gu,
      accept: (candidate) => longestPart(candidate, 13, passesLuhn),
    }),
  ssn: () =>
    new TextPattern({
      type: 'ssn',
      replacement: '[SSN]',
      // https://www.ssa.gov/employer/randomizationfaqs.html
      candidate: /(?<![\d-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])/gu,
      open: /(?<![\d-])\d{1,3}(?:(?<=\d{3})-\d{0,2}(?:(?<=-\d{2})-\d{0,4})?)?$/gu,
    }),
  ip: () =>
    new TextPattern({
      type: 'ip',
      replacement: '[IP]',
      candidate: /(?<![\p{L}\p{N}.:])(?:\d{1,3}(?:\.\d{1,3}){3}(?![\p{L}\p{N}])|[\dA-Fa-f:]{2,39}(?![\p{L}\p{N}:]))/gu,
      open: /(?<![\p{L}\p{N}.:])(?:\d{1,3}(?:\.\d{0,3}){0,3}|[\dA-Fa-f:]{1,39})$/gu,
      accept: ipLength,
    }),
  phone: () =>
    new TextPattern({
      type: 'phone',
      replacement: '[PHONE]',
      candidate: /(?<![\p{L}\p{N}+])[+(]?\d[\d ().\/-]{5,24}/gu,
      open: /(?<![\p{L}\p{N}+])(?:[+(]|[+(]?\d[\d ().\/-]{0,24})$/gu,
      accept: phoneLength,
    }),
};

/** @returns the length of the longest beginning that is valid and ends with a group; 0 if none is */
function longestPart(candidate: string, least: number, isValid: (compact: string) => boolean): number {
  const groups = candidate.split(/(?=[ -])/);
  for (let count = groups.length; count > 0; count -= 1) {
    const part = groups.slice(0, count).join('');
    const compact = part.replace(/[ -]/g, '');
    if (compact.length < least) return 0;
    if (isValid(compact)) return part.length;
  }
  return 0;
}

/** ISO 13616: the remainder of the rearranged number by 97 is 1. */
function isIban(compact: string): boolean {
  let remainder = 0;
  for (const character of compact.slice(4) + compact.slice(0, 4)) {
    const value = parseInt(character, 36);
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder === 1 && compact.length <= 34;
}

/** ISO/IEC 7812-1. */
function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

function ipLength(candidate: string): number {
  if (!candidate.includes(':')) {
    const parts = candidate.split('.');
    return parts.length === 4 && parts.every((part) => Number(part) <= 255) ? candidate.length : 0;
  }
  // A colon may be punctuation.
  const address = candidate.replace(/(?<!:):$/, '');
  // Times and names with colons are no addresses.
  const isLikely = /\d/.test(address) && (address.includes('::') || address.split(':').length === 8);
  return isLikely && parseUrl(`http://[${address}]`) !== undefined ? address.length : 0;
}

/** International numbers, and with separators, North American ones and national ones that start with 0. */
function phoneLength(candidate: string): number {
  const number = candidate.replace(/\D+$/, '');
  const digits = number.replace(/\D/g, '');
  const isPhone = /^\+|^00[1-9]/.test(number)
    ? digits.length >= 8 && digits.length <= 17
    : /^\(?[2-9]\d{2}\)?[ .-]{1,2}\d{3}[ .-]\d{4}$/.test(number) ||
      (/^\(?0[1-9]\d*\)?[ ./-]/.test(number) && digits.length >= 8 && digits.length <= 13);
  return isPhone ? number.length : 0;
}
