/**
 * What a server prints when it is ready. A token that it generated goes to terminals only: elsewhere, output is
 * collected in logs. A token that was set is known already.
 */
import type { RunningServer } from './startServer';

export interface StartCircumstances {
  /** Standard output is a terminal, which one person reads. */
  readonly isTerminal: boolean;
  /** The token was set by BOLIDE_API_TOKEN; otherwise it was generated. */
  readonly isTokenSet: boolean;
}

export function describeStart(
  { url, token, signInWith }: Pick<RunningServer, 'url' | 'token' | 'signInWith'>,
  { isTerminal, isTokenSet }: StartCircumstances,
): readonly string[] {
  const ready = `Bolide is ready at ${url}`;
  if (signInWith !== undefined) {
    const signIn = `${ready} — sign in with ${signInWith}.`;
    return isTerminal && !isTokenSet ? [signIn, `API token for local use: ${token}`] : [signIn];
  }
  if (isTokenSet) return [`${ready} — sign in with the API token that is in BOLIDE_API_TOKEN.`];
  if (isTerminal)
    return [
      `${ready} — API token for local use: ${token}`,
      `Open the dashboard, signed in: ${url}/#token=${encodeURIComponent(token)}`,
    ];
  return [`${ready} — the generated API token is printed in terminals only. Set BOLIDE_API_TOKEN to choose one.`];
}

/** @returns a warning if other machines can reach the server, and send their tokens to it unencrypted */
export function describeExposure({ host, rootUrl }: Exposure): string | undefined {
  if (isLoopback(host) || rootUrl?.startsWith('https:') === true) return undefined;
  return `Warning: HOST is ${host}, so other machines can reach this server, and tokens travel unencrypted. Put a proxy with TLS in front of it, and set ROOT_URL to its https address.`;
}

export interface Exposure {
  /** The address that the server listens on. */
  readonly host: string;
  readonly rootUrl: string | undefined;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
