/** The filters of a list: a search field and the most used filters in a row, all others behind a button. */
import { useId, useState } from 'react';
import type { ReactNode } from 'react';
import { Icon } from '../Icon';
import { SearchField } from './SearchField';
import type { SearchFieldProps } from './SearchField';

export interface FilterBarProps {
  readonly search: SearchFieldProps;
  /** The most used filters. */
  readonly children: ReactNode;
  /** The others. */
  readonly more?: ReactNode;
  /** How many of the others are in effect. */
  readonly moreCount?: number;
}

export function FilterBar({ search, children, more, moreCount = 0 }: FilterBarProps) {
  const [isExpanded, setExpanded] = useState(false);
  const id = useId();
  return (
    <search className="filter-bar">
      <div className="filter-row">
        <SearchField {...search} />
        {children}
        {more !== undefined && (
          <button
            type="button"
            className="button filter-more"
            aria-expanded={isExpanded}
            aria-controls={id}
            onClick={() => setExpanded(!isExpanded)}
          >
            <Icon name="filter" /> {isExpanded ? 'Fewer filters' : 'More filters'}
            {moreCount > 0 && <span className="nav-count numeric">{moreCount}</span>}
          </button>
        )}
      </div>
      {more !== undefined && (
        <div id={id} className="filter-panel card" hidden={!isExpanded}>
          {more}
        </div>
      )}
    </search>
  );
}
