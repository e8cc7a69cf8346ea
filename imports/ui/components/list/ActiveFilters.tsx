/** The filters in effect, each with a button that removes it. */
import { Icon } from '../Icon';

export interface ActiveFilter {
  /** The parameter of the address. */
  readonly name: string;
  /** "Cost above $0.50" */
  readonly label: string;
}

export function ActiveFilters({
  filters,
  onRemove,
  onClear,
}: {
  readonly filters: readonly ActiveFilter[];
  readonly onRemove: (name: string) => void;
  readonly onClear: () => void;
}) {
  if (filters.length === 0) return null;
  return (
    <ul className="active-filters" aria-label="Filters in effect">
      {filters.map(({ name, label }) => (
        <li key={name}>
          <button type="button" className="chip" onClick={() => onRemove(name)} aria-label={`Remove filter: ${label}`}>
            <bdi>{label}</bdi>
            <Icon name="cross" />
          </button>
        </li>
      ))}
      <li>
        <button type="button" className="chip chip-quiet" onClick={onClear}>
          Clear all
        </button>
      </li>
    </ul>
  );
}
