/**
 * The filters of a list, and those in effect. They are part of the address, so that a filtered list can be shared. Each
 * page chooses its inputs: `{({ select, field }) => select('state', 'State', STATES)}`.
 */
import type { ReactNode } from 'react';
import type { Option } from '../form/fields';
import { changeFilters } from '../../shell/queryParameters';
import type { Route } from '../../shell/route';
import { ActiveFilters } from './ActiveFilters';
import type { ActiveFilter } from './ActiveFilters';
import { FilterBar } from './FilterBar';
import { FilterField } from './FilterField';
import { fromLocalTime, toLocalTime } from './localTime';

/** Each sets the parameter of its name. */
export interface FilterInputs {
  readonly select: (name: string, label: string, options: FilterSelectProps['options']) => ReactNode;
  /** A select among fields, below its label. */
  readonly labelledSelect: (name: string, label: string, options: FilterSelectProps['options']) => ReactNode;
  readonly field: (name: string, label: string, suggestions?: readonly string[]) => ReactNode;
  readonly number: (name: string, label: string) => ReactNode;
  readonly time: (name: string, label: string) => ReactNode;
}

export interface ListFiltersProps {
  readonly route: Route;
  readonly search: { readonly label: string; readonly placeholder: string };
  /** The filters in effect. */
  readonly active: readonly ActiveFilter[];
  /** The most used filters. */
  readonly children: (inputs: FilterInputs) => ReactNode;
  /** The filters behind the button. */
  readonly more: (inputs: FilterInputs) => ReactNode;
  /** The parameters of the filters behind the button. */
  readonly moreNames: readonly string[];
}

export function ListFilters({ route, search, active, children, more, moreNames }: ListFiltersProps) {
  const inputs = filterInputs(route);
  return (
    <>
      <FilterBar
        search={{
          ...search,
          value: route.query.get('search') ?? '',
          onSearch: (text) => changeFilters(route, { search: text }),
        }}
        more={more(inputs)}
        moreCount={active.filter(({ name }) => moreNames.includes(name)).length}
      >
        {children(inputs)}
      </FilterBar>
      <ActiveFilters
        filters={active}
        onRemove={(name) => changeFilters(route, { [name]: '' })}
        onClear={() => changeFilters(route, Object.fromEntries(active.map(({ name }) => [name, ''])))}
      />
    </>
  );
}

function filterInputs(route: Route): FilterInputs {
  const value = (name: string): string => route.query.get(name) ?? '';
  const change = (name: string) => (next: string) => changeFilters(route, { [name]: next });
  const select: FilterInputs['select'] = (name, label, options) => (
    <FilterSelect label={label} value={value(name)} options={options} onChange={change(name)} />
  );
  return {
    select,
    labelledSelect: (name, label, options) => (
      <div className="field">
        <span aria-hidden="true">{label}</span>
        {select(name, label, options)}
      </div>
    ),
    field: (name, label, suggestions) => (
      <FilterField label={label} value={value(name)} onChange={change(name)} suggestions={suggestions} />
    ),
    number: (name, label) => <FilterField label={label} type="number" value={value(name)} onChange={change(name)} />,
    time: (name, label) => (
      <FilterField
        label={label}
        type="datetime-local"
        value={toLocalTime(value(name))}
        onChange={(text) => change(name)(fromLocalTime(text))}
      />
    ),
  };
}

/** A filter with a fixed choice. It names what it filters by until something is chosen. */
interface FilterSelectProps {
  readonly label: string;
  /** '' for no filter. A value that is not among the options, such as of a link, is added to them. */
  readonly value: string;
  readonly options: readonly Option[];
  readonly onChange: (value: string) => void;
}

function FilterSelect({ label, value, options, onChange }: FilterSelectProps) {
  const isListed = value === '' || options.some((option) => option.value === value);
  return (
    <label className={value === '' ? 'filter-select' : 'filter-select is-set'}>
      <span className="visually-hidden">{label}</span>
      <select value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{label}: any</option>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
        {!isListed && <option value={value}>{value}</option>}
      </select>
    </label>
  );
}
