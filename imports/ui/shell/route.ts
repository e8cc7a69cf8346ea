/**
 * The current page. It is the path of the address where the dashboard has addresses of its own, such as `/runs/8f2…`;
 * within a page of an app it is behind `#`, so that the app needs no routes for it.
 */
import { useMemo, useSyncExternalStore } from 'react';
import { targetOf } from './uiRoot';

export interface Route {
  /** `runs/8f2…` has two segments. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

/** What precedes the path of a page: `#`, or the path at which the dashboard is, such as `` or `/bolide`. */
let prefix = '#';

/**
 * Makes the pages addresses of their own, and leads old ones, which are behind `#`, to them.
 * @param root the path at which the dashboard is, such as `/`
 */
export function showPagesBelow(root: string): void {
  prefix = root.replace(/\/+$/, '');
  const leaveHash = (): void => {
    const { hash } = window.location;
    if (!hash.startsWith('#/')) return;
    const { path, query } = parseRoute(hash);
    writeAddress('replaceState', linkTo(path, Object.fromEntries(query)), window.history.state);
  };
  window.addEventListener('hashchange', leaveHash);
  leaveHash();
}

export function useRoute(): Route {
  const address = useSyncExternalStore(subscribe, currentAddress);
  return useMemo(() => parseRoute(address), [address]);
}

export function currentRoute(): Route {
  return parseRoute(currentAddress());
}

/** Reads what `linkTo` wrote; an address behind `#` in any case. */
export function parseRoute(address: string): Route {
  const start = address.startsWith('#') ? '#' : prefix;
  const [path = '', query = ''] = address.slice(start.length).split('?');
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
  return `${prefix}/${path.map((segment) => encodeURIComponent(segment.toWellFormed())).join('/')}${search}`;
}

/** Goes to a page, as a click on its link does. @param link from `linkTo` */
export function goTo(link: string): void {
  if (link !== currentAddress()) writeAddress('pushState', link);
}

/** Changes the part after `?` without adding a history entry. */
export function replaceQuery(route: Route, query: Readonly<Record<string, string>>): void {
  writeAddress('replaceState', linkTo(route.path, query));
}

/** @param state of the entry in the browser's history */
export function writeAddress(method: 'pushState' | 'replaceState', link: string, state: unknown = null): void {
  window.history[method](state, '', link);
  // The browser reports only what its user does.
  window.dispatchEvent(new PopStateEvent('popstate', { state }));
}

/** The page that a click on a link of the dashboard leads to without loading it: undefined for any other click. */
export function clickedLink(event: MouseEvent): string | undefined {
  const isModified = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || event.button !== 0;
  if (prefix === '#' || event.defaultPrevented || isModified) return undefined;
  const link = targetOf(event)?.closest('a');
  const href = link?.getAttribute('href') ?? '';
  if (
    !href.startsWith(`${prefix}/`) ||
    link?.hasAttribute('target') === true ||
    link?.hasAttribute('download') === true
  )
    return undefined;
  return href;
}

function currentAddress(): string {
  const { hash, pathname, search } = window.location;
  return prefix === '#' ? hash : pathname + search;
}

function subscribe(listener: () => void): () => void {
  // A change of the hash is reported by both where the browser's user makes it.
  window.addEventListener('popstate', listener);
  window.addEventListener('hashchange', listener);
  return () => {
    window.removeEventListener('popstate', listener);
    window.removeEventListener('hashchange', listener);
  };
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
