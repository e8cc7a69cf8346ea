/**
 * Takes the token from a URL that ends in `#token=…`, as the terminal prints it, and removes it from the address bar
 * and the history right away.
 */
export function takeTokenFromUrl({ location, history }: Pick<Window, 'location' | 'history'>): string | undefined {
  const token = /^#token=([^&]+)/.exec(location.hash)?.[1];
  if (token === undefined) return undefined;
  history.replaceState(null, '', location.pathname + location.search);
  return decodeURIComponent(token);
}
