/** A filter with a fixed choice. It names what it filters by until something is chosen. */
export interface FilterSelectProps {
  readonly label: string;
  /** '' for no filter. A value that is not among the options, such as of a link, is added to them. */
  readonly value: string;
  readonly options: readonly { readonly value: string; readonly label: string }[];
  readonly onChange: (value: string) => void;
}

export function FilterSelect({ label, value, options, onChange }: FilterSelectProps) {
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
