/** Servers quote what they were sent: secrets that are known are taken out by value, which no pattern can do. */

/** Shorter values are words of their own. */
const MIN_LENGTH = 6;

export function withoutSecrets(text: string, secrets: readonly (string | null | undefined)[]): string {
  return secrets.reduce<string>(
    (safe, secret) =>
      typeof secret === 'string' && secret.length >= MIN_LENGTH ? safe.replaceAll(secret, '[redacted]') : safe,
    text,
  );
}
