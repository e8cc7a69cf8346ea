/**
 * Named addresses of a page: those that come with it, and those that are saved in this browser. A view is a link, so it
 * can be shared as it is.
 */
import { useState } from 'react';
import { Icon } from '../Icon';
import { linkTo } from '../../shell/route';
import type { Route } from '../../shell/route';
import { removeView, saveView, useSavedViews } from './savedViewStore';
import type { SavedView } from './savedViewStore';

export interface SavedViewsProps {
  readonly route: Route;
  /** Queries without the question mark: `state=failed`. */
  readonly standard: readonly SavedView[];
}

export function SavedViews({ route, standard }: SavedViewsProps) {
  const page = route.path[0] ?? '';
  const own = useSavedViews(page);
  const current = filterQuery(route);
  const isKnown = [...standard, ...own].some(({ query }) => query === current);
  return (
    <nav className="views" aria-label="Views">
      <ul className="chips">
        {standard.map((view) => (
          <li key={view.name}>
            <ViewLink page={page} view={view} current={current} />
          </li>
        ))}
        {own.map((view) => (
          <li key={view.name} className="own-view">
            <ViewLink page={page} view={view} current={current} />
            <button type="button" aria-label={`Delete view ${view.name}`} onClick={() => removeView(page, view.name)}>
              <Icon name="cross" />
            </button>
          </li>
        ))}
        {!isKnown && (
          <li>
            <SaveView onSave={(name) => saveView(page, { name, query: current })} />
          </li>
        )}
      </ul>
    </nav>
  );
}

function ViewLink({
  page,
  view,
  current,
}: {
  readonly page: string;
  readonly view: SavedView;
  readonly current: string;
}) {
  return (
    <a
      className="chip"
      href={view.query === '' ? linkTo([page]) : `${linkTo([page])}?${view.query}`}
      aria-current={view.query === current ? 'true' : undefined}
    >
      <bdi>{view.name}</bdi>
    </a>
  );
}

function SaveView({ onSave }: { readonly onSave: (name: string) => void }) {
  const [name, setName] = useState<string>();
  if (name === undefined)
    return (
      <button type="button" className="chip chip-quiet" onClick={() => setName('')}>
        Save view
      </button>
    );
  return (
    <form
      className="save-view"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim() !== '') onSave(name.trim());
      }}
    >
      <input
        aria-label="Name of the view"
        placeholder="Name"
        maxLength={60}
        autoFocus
        value={name}
        onChange={(event) => setName(event.target.value)}
        onKeyDown={({ key }) => (key === 'Escape' ? setName(undefined) : undefined)}
      />
      <button type="submit" className="button button-small" disabled={name.trim() === ''}>
        Save
      </button>
    </form>
  );
}

/** Without the place in the list, and with the parameters in a fixed order. */
function filterQuery({ query }: Route): string {
  const parameters = new URLSearchParams(query);
  for (const name of ['after', 'page']) parameters.delete(name);
  parameters.sort();
  return parameters.toString();
}
