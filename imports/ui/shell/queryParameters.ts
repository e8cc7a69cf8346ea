/** Filters, order and place of a list, in the address: a reload, a link and the Back button restore them. */
import { linkTo, writeAddress } from './route';
import type { Route } from './route';

/** Parameters of the place in a list: they mean nothing once a filter has changed. */
const PLACE = ['after', 'page'] as const;

/** The parameters of the address by name. */
export function parametersOf(route: Route): Readonly<Record<string, string>> {
  return Object.fromEntries(route.query);
}

/** Changes filters or order; '' removes a parameter. The list starts at its first page again. */
export function changeFilters(route: Route, changes: Readonly<Record<string, string>>): void {
  const { [PLACE[0]]: _after, [PLACE[1]]: _page, ...parameters } = parametersOf(route);
  write('replaceState', route, { ...parameters, ...changes });
}

/** The address of a page of the list, as an entry of the browser's history. The cursors so far lead back to it. */
export function goToPage(route: Route, page: number, cursor: string | undefined): void {
  const cursors = page === 1 ? [] : [...cursorsOf(route).slice(0, page - 2), cursor ?? ''];
  const { after: _after, page: _page, ...parameters } = parametersOf(route);
  const place = page === 1 || cursor === undefined ? {} : { after: cursor, page: String(page) };
  write('pushState', route, { ...parameters, ...place }, { cursors });
}

export interface ListPlace {
  /** Counted from 1. */
  readonly page: number;
  readonly after: string | undefined;
  /** The cursor of the page before: '' for the first one, undefined if it is unknown, as in a link from elsewhere. */
  readonly previous: string | undefined;
}

export function placeOf(route: Route): ListPlace {
  const after = route.query.get('after') ?? '';
  const page = Number(route.query.get('page'));
  if (after === '' || !Number.isSafeInteger(page) || page < 2)
    return { page: 1, after: undefined, previous: undefined };
  return { page, after, previous: page === 2 ? '' : cursorsOf(route)[page - 3] };
}

/** The cursors of the pages from the second to the current one, as far as this tab has come through them. */
function cursorsOf(route: Route): readonly string[] {
  const state: unknown = window.history.state;
  const cursors = typeof state === 'object' && state !== null && 'cursors' in state ? state.cursors : [];
  return Array.isArray(cursors) && cursors.at(-1) === (route.query.get('after') ?? undefined)
    ? (cursors as string[])
    : [];
}

function write(
  method: 'pushState' | 'replaceState',
  route: Route,
  parameters: Readonly<Record<string, string>>,
  state: unknown = null,
): void {
  writeAddress(method, linkTo(route.path, parameters), state);
}
