/** What a server prints when it is ready. Its token goes to terminals only: elsewhere, output is collected in logs. */
import type { RunningServer } from './startServer';

export interface StartCircumstances {
  /** Standard output is a terminal, which one person reads. */
  readonly isTerminal: boolean;
  /** The token was set by BOLIDE_API_TOKEN; otherwise it was generated. */
  readonly isTokenSet: boolean;
}

export function describeStart(
  { url, token }: Pick<RunningServer, 'url' | 'token'>,
  { isTerminal, isTokenSet }: StartCircumstances,
): readonly string[] {
  const ready = `Bolide is ready at ${url}`;
  if (isTerminal)
    return [
      `${ready} — API token for local use: ${token}`,
      `Open the dashboard, signed in: ${url}/#token=${encodeURIComponent(token)}`,
    ];
  return [
    isTokenSet
      ? `${ready} — sign in with the API token that is in BOLIDE_API_TOKEN.`
      : `${ready} — the generated API token is printed in terminals only. Set BOLIDE_API_TOKEN to choose one.`,
  ];
}
