/** The views that are saved in this browser, by page. */
import { useMemo, useSyncExternalStore } from 'react';

export interface SavedView {
  readonly name: string;
  /** With the parameters in alphabetical order. */
  readonly query: string;
}

const STORAGE_KEY = 'bolide-views';
const listeners = new Set<() => void>();
/** Stands in for storage that the browser blocks. */
let stored = '{}';

export function useSavedViews(page: string): readonly SavedView[] {
  const text = useSyncExternalStore(subscribe, read, read);
  return useMemo(() => viewsIn(text)[page] ?? [], [text, page]);
}

/** Replaces the view of that name. */
export function saveView(page: string, view: SavedView): void {
  const views = viewsIn(read());
  write({ ...views, [page]: [...(views[page] ?? []).filter(({ name }) => name !== view.name), view] });
}

export function removeView(page: string, name: string): void {
  const views = viewsIn(read());
  write({ ...views, [page]: (views[page] ?? []).filter((view) => view.name !== name) });
}

type Views = Readonly<Record<string, readonly SavedView[]>>;

/** What another version or a person has written there is ignored. */
function viewsIn(text: string): Views {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null) return {};
    return Object.fromEntries(
      Object.entries(parsed).map(([page, views]) => [page, Array.isArray(views) ? views.filter(isView) : []]),
    );
  } catch {
    return {};
  }
}

function isView(value: unknown): value is SavedView {
  return (
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    typeof value.name === 'string' &&
    'query' in value &&
    typeof value.query === 'string'
  );
}

function read(): string {
  try {
    return window.localStorage.getItem(STORAGE_KEY) ?? stored;
  } catch {
    return stored;
  }
}

function write(views: Views): void {
  stored = JSON.stringify(views);
  try {
    window.localStorage.setItem(STORAGE_KEY, stored);
  } catch {
    // The views last until the page is closed.
  }
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener('storage', listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('storage', listener);
  };
}
