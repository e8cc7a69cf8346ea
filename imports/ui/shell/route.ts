/** The current page, stored in the URL after `#` so that any host can serve every page as one document. */
import { useMemo, useSyncExternalStore } from 'react';

export interface Route {
  /** `runs/8f2…` has two segments. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => window.location.hash);
  return useMemo(() => parseRoute(hash), [hash]);
}

export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?');
  return {
    path: path
      .split('/')
      .filter((segment) => segment !== '')
      .map(decode),
    query: new URLSearchParams(query),
  };
}

/** Lone surrogates, which a URL cannot hold, become U+FFFD. */
export function linkTo(path: readonly string[], query: Readonly<Record<string, string>> = {}): string {
  const entries = Object.entries(query).filter(([, value]) => value !== '');
  const search = entries.length === 0 ? '' : `?${new URLSearchParams(entries).toString()}`;
  return `#/${path.map((segment) => encodeURIComponent(segment.toWellFormed())).join('/')}${search}`;
}

/** Changes the part after `?` without adding a history entry. */
export function replaceQuery(route: Route, query: Readonly<Record<string, string>>): void {
  window.history.replaceState(null, '', linkTo(route.path, query));
  window.dispatchEvent(new HashChangeEvent('hashchange'));
}

function subscribe(listener: () => void): () => void {
  window.addEventListener('hashchange', listener);
  return () => window.removeEventListener('hashchange', listener);
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
