/** Meteor's Random on the server: cryptographic, with ids of 17 unambiguous characters. */
import { randomBytes, randomInt } from 'node:crypto';

const UNMISTAKABLE = '23456789ABCDEFGHJKLMNPQRSTWXYZabcdefghijkmnopqrstuvwxyz';
const BASE64 = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_';

export const Random = {
  id: (length = 17): string => text(length, UNMISTAKABLE),
  secret: (length = 43): string => text(length, BASE64),
  hexString: (digits: number): string => text(digits, '0123456789abcdef'),
  fraction: (): number => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
  choice: <T>(list: readonly T[]): T | undefined => (list.length === 0 ? undefined : list[randomInt(list.length)]),
};

function text(length: number, alphabet: string): string {
  return Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('');
}
