/**
 * The token from an address that ends in `#token=…`: the terminal prints one. It leaves the address and the history
 * before anything else happens.
 */
export function takeToken({ location, history }: Pick<Window, 'location' | 'history'>): string | undefined {
  const token = /^#token=([^&]+)/.exec(location.hash)?.[1];
  if (token === undefined) return undefined;
  history.replaceState(null, '', `${location.pathname}${location.search}#/`);
  return decodeURIComponent(token);
}
