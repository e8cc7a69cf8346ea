/** The views that are saved in this browser, by page. */
import { useMemo, useSyncExternalStore } from 'react';
import { fieldsOf, isList, readJson } from '../../../business/ai/domain/util/json';
import { StoredText } from '../StoredText';

export interface SavedView {
  readonly name: string;
  /** With the parameters in alphabetical order. */
  readonly query: string;
}

const stored = new StoredText('bolide-views', '{}');

export function useSavedViews(page: string): readonly SavedView[] {
  const text = useSyncExternalStore(stored.subscribe, stored.read, stored.read);
  return useMemo(() => viewsIn(text)[page] ?? [], [text, page]);
}

/** Replaces the view of that name. */
export function saveView(page: string, view: SavedView): void {
  const views = viewsIn(stored.read());
  const others = (views[page] ?? []).filter(({ name }) => name !== view.name);
  stored.write(JSON.stringify({ ...views, [page]: [...others, view] }));
}

export function removeView(page: string, name: string): void {
  const views = viewsIn(stored.read());
  stored.write(JSON.stringify({ ...views, [page]: (views[page] ?? []).filter((view) => view.name !== name) }));
}

type Views = Readonly<Record<string, readonly SavedView[]>>;

/** What another version or a person has written there is ignored. */
function viewsIn(text: string): Views {
  return Object.fromEntries(
    Object.entries(fieldsOf(readJson(text))).map(([page, views]) => [page, isList(views) ? views.filter(isView) : []]),
  );
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
