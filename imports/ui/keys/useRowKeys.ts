/**
 * `j` and `k` move through the rows of a list, and Enter opens the focused one. Rows are the focusable elements with
 * `data-row` within the list.
 */
import { useRef } from 'react';
import type { RefObject } from 'react';
import { useKeys } from './keyBindings';
import { uiRoot } from '../shell/uiRoot';

/**
 * @param name the heading in the list of keys, and what a row is: "Runs", "run"
 * @returns the `ref` of the list
 */
export function useRowKeys<T extends HTMLElement>(name: string, what: string): RefObject<T | null> {
  const list = useRef<T>(null);
  const move = (step: 1 | -1): void => {
    const rows = [...(list.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
    const index = rows.findIndex((row) => row.contains(uiRoot().activeElement));
    const next = index === -1 ? (step === 1 ? rows[0] : rows.at(-1)) : rows[index + step];
    next?.focus();
    next?.scrollIntoView({ block: 'nearest' });
  };
  useKeys(name, [
    { key: 'j', label: `Next ${what}`, run: () => move(1) },
    { key: 'k', label: `Previous ${what}`, run: () => move(-1) },
  ]);
  return list;
}
