/** A column heading that sorts its list: by the column, then the other way round. */
import { Icon } from '../Icon';

export type SortOrder = 'asc' | 'desc';

export interface SortButtonProps {
  readonly label: string;
  /** The order in effect; undefined if the list is sorted by another column. */
  readonly order: SortOrder | undefined;
  readonly onSort: (order: SortOrder) => void;
}

export function SortButton({ label, order, onSort }: SortButtonProps) {
  const next = order === 'desc' ? 'asc' : 'desc';
  return (
    <button
      type="button"
      className="sort-button"
      aria-pressed={order !== undefined}
      aria-label={order === undefined ? `Sort by ${label.toLowerCase()}` : `${label}, ${ORDERS[order]}. Reverse`}
      onClick={() => onSort(next)}
    >
      <Icon name="chevron" className={order === 'asc' ? 'is-up' : 'is-down'} />
      {label}
    </button>
  );
}

const ORDERS = { asc: 'lowest first', desc: 'highest first' } as const;
