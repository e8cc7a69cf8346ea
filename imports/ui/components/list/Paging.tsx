/**
 * "51–100 of 100,000", with buttons for the pages before and after. The place is in the address: see `placeOf` and
 * `goToPage`. A list uses it so:
 *
 * ```tsx
 * const { page, after } = placeOf(route);
 * const loaded = useData().useQuery('ai.runs.list', { ...filter, limit: 50, ...(after && { after }) });
 * <Paging route={route} limit={50} count={runs.length} total={total} next={next} what="runs" />
 * ```
 */
import { Icon } from '../Icon';
import { goToPage, placeOf } from '../../shell/queryParameters';
import type { Route } from '../../shell/route';
import { uiRoot } from '../../shell/uiRoot';

export interface PagingProps {
  readonly route: Route;
  /** Rows of a full page. */
  readonly limit: number;
  /** Rows of this page. */
  readonly count: number;
  /** Rows of all pages; undefined while it is unknown. */
  readonly total: number | undefined;
  /** The cursor of the next page; undefined on the last one. */
  readonly next: string | undefined;
  /** "runs" */
  readonly what: string;
}

export function Paging({ route, limit, count, total, next, what }: PagingProps) {
  const { page, previous } = placeOf(route);
  const first = (page - 1) * limit + 1;
  const go = (target: number, cursor: string | undefined): void => {
    goToPage(route, target, cursor);
    uiRoot().getElementById('bolide-content')?.scrollIntoView({ block: 'start' });
  };
  return (
    <div className="paging" role="group" aria-label="Pages">
      <p className="numeric" role="status">
        {count === 0 ? `No ${what}` : `${INTEGER.format(first)}–${INTEGER.format(first + count - 1)}`}
        {total !== undefined && count > 0 && ` of ${INTEGER.format(total)}`}
        {count > 0 && <span className="visually-hidden"> {what}</span>}
      </p>
      <div className="buttons">
        {page > 2 && (
          <button type="button" className="button button-small" onClick={() => go(1, undefined)}>
            First
          </button>
        )}
        <button
          type="button"
          className="button button-small"
          // A link from elsewhere leads back to the first page only.
          disabled={page === 1 || previous === undefined}
          onClick={() => go(page - 1, previous === '' ? undefined : previous)}
        >
          <Icon name="chevron" className="is-flipped" /> Previous
        </button>
        <button
          type="button"
          className="button button-small"
          disabled={next === undefined}
          onClick={() => go(page + 1, next)}
        >
          Next <Icon name="chevron" />
        </button>
      </div>
    </div>
  );
}

const INTEGER = new Intl.NumberFormat('en-US');
