/** Redacts given secrets by value, since servers may quote them and no pattern would recognize them. */

/** Shorter values might match ordinary words. */
const MIN_LENGTH = 6;

export function withoutSecrets(text: string, secrets: readonly (string | null | undefined)[]): string {
  return secrets.reduce<string>(
    (safe, secret) =>
      typeof secret === 'string' && secret.length >= MIN_LENGTH ? safe.replaceAll(secret, '[redacted]') : safe,
    text,
  );
}
