/** The search field of a page. What is typed is passed on after a pause, or with Enter; `/` focuses it. */
import { useEffect, useRef, useState } from 'react';
import { useKeys } from '../../keys/keyBindings';
import { Icon } from '../Icon';

/** Milliseconds without a key. */
const PAUSE_MS = 300;

export interface SearchFieldProps {
  /** The search that is in effect. */
  readonly value: string;
  /** What is searched: "Search title, ID, user or tool". */
  readonly label: string;
  readonly placeholder: string;
  readonly onSearch: (text: string) => void;
}

export function SearchField({ value, label, placeholder, onSearch }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(value);
  const search = useRef(onSearch);
  search.current = onSearch;
  // Another address, such as a saved view's, replaces what was typed.
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text.trim() === value) return;
    const timer = setTimeout(() => search.current(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, value]);
  useKeys('This page', [{ key: '/', label: 'Search', run: () => field.current?.select() }]);
  return (
    <label className="search-field">
      <Icon name="search" />
      <span className="visually-hidden">{label}</span>
      <input
        ref={field}
        type="search"
        placeholder={placeholder}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onSearch(text.trim());
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
    </label>
  );
}
