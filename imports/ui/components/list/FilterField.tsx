/** A filter with a text, a number or a time. It takes effect with Enter, and when the field is left. */
import { useEffect, useState } from 'react';
import type { KeyboardEvent } from 'react';

export interface FilterFieldProps {
  readonly label: string;
  readonly value: string;
  readonly type?: 'text' | 'number' | 'datetime-local';
  readonly placeholder?: string;
  /** Known values, offered while typing. */
  readonly suggestions?: readonly string[] | undefined;
  readonly onChange: (value: string) => void;
}

export function FilterField({ label, value, type = 'text', placeholder, suggestions, onChange }: FilterFieldProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const commit = (): void => {
    if (text.trim() !== value) onChange(text.trim());
  };
  const listId = suggestions === undefined ? undefined : `filter-${label.toLowerCase().replaceAll(' ', '-')}`;
  return (
    <label className="field">
      <span>{label}</span>
      <input
        type={type}
        value={text}
        placeholder={placeholder}
        list={listId}
        {...(type === 'number' ? { min: 0, step: 'any' } : {})}
        onChange={(event) => setText(event.target.value)}
        onBlur={commit}
        onKeyDown={(event: KeyboardEvent) => {
          if (event.key === 'Enter') commit();
        }}
      />
      {suggestions !== undefined && (
        <datalist id={listId}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
    </label>
  );
}
