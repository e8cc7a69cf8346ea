/**
 * JSON as a tree that can be searched and copied from, of any size and depth. Text that is not JSON, such as arguments
 * that were truncated, is shown as it is.
 */
import { useDeferredValue, useId, useMemo, useRef, useState } from 'react';
import type { KeyboardEvent } from 'react';
import { useVirtualizer } from '@tanstack/react-virtual';
import { jsonOrText } from '../../business/ai/domain/util/json';
import { pluralize, prettyJson } from '../format/format';
import { showHidden } from '../format/hiddenCharacters';
import { CopyButton } from './CopyButton';
import { FoldedText } from './FoldedText';
import { JsonRowView, ROW_HEIGHT } from './JsonRowView';
import { countValues, flattenJson, isContainer, pathOf, searchJson } from './flattenJson';
import type { JsonExpansion, JsonRow } from './flattenJson';
import { uiRoot } from '../shell/uiRoot';

export interface JsonTreeProps {
  /** JSON, or any other text. */
  readonly text: string;
  /** Describes the value to screen readers: "arguments of get_weather". */
  readonly label: string;
}

export function JsonTree({ text, label }: JsonTreeProps) {
  const value = useMemo(() => jsonOrText(text), [text]);
  if (!isContainer(value))
    return (
      <div className="json-text">
        <FoldedText text={typeof value === 'string' ? value : text} label={label} className="mono" showsHidden />
        <CopyButton text={typeof value === 'string' ? value : text} label={label} />
      </div>
    );
  return <Tree key={text} value={value} text={text} label={label} />;
}

function Tree({ value, text, label }: { readonly value: object; readonly text: string; readonly label: string }) {
  const id = useId();
  const isSmall = useMemo(() => countValues(value, SMALL) < SMALL, [value]);
  const [expansion, setExpansion] = useState<JsonExpansion>({ levels: isSmall ? Infinity : 1, toggled: NONE });
  const [query, setQuery] = useState('');
  const searched = useDeferredValue(query.trim());
  const found = useMemo(() => (searched === '' ? undefined : searchJson(value, searched)), [value, searched]);
  const rows = useMemo(() => found?.rows ?? flattenJson(value, expansion), [found, value, expansion]);
  const [selected, setSelected] = useState<JsonRow>();
  const position = rows.findIndex((row) => isSameRow(row, selected));
  const box = useRef<HTMLDivElement>(null);
  const isVirtual = rows.length > MAX_RENDERED_ROWS;
  const virtual = useVirtualizer({
    count: isVirtual ? rows.length : 0,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 12,
  });
  const toggle = ({ value: container, isExpanded }: JsonRow): void => {
    if (isExpanded === undefined || found !== undefined) return;
    const toggled = new Set(expansion.toggled);
    if (!toggled.delete(container)) toggled.add(container);
    setExpansion({ ...expansion, toggled });
  };
  const select = (index: number): void => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (row === undefined) return;
    setSelected(row);
    if (isVirtual) virtual.scrollToIndex(rows.indexOf(row), { align: 'auto' });
    else
      uiRoot()
        .getElementById(`${id}-${rows.indexOf(row)}`)
        ?.scrollIntoView({ block: 'nearest' });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const row = rows[position];
    const moves: Readonly<Record<string, () => void>> = {
      ArrowDown: () => select(position + 1),
      ArrowUp: () => select(position - 1),
      Home: () => select(0),
      End: () => select(rows.length - 1),
      PageDown: () => select(position + 12),
      PageUp: () => select(position - 12),
      ArrowRight: () => (row?.isExpanded === false ? toggle(row) : select(position + 1)),
      ArrowLeft: () =>
        row?.isExpanded === true && found === undefined
          ? toggle(row)
          : select(rows.findIndex((candidate) => isSameRow(candidate, row?.parent))),
      Enter: () => row !== undefined && toggle(row),
      ' ': () => row !== undefined && toggle(row),
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    move();
  };
  const shown = isVirtual ? virtual.getVirtualItems().map(({ index }) => index) : rows.keys();
  return (
    <div className="json-tree">
      <div className="json-tools">
        {!isSmall && (
          <>
            <input
              type="search"
              value={query}
              onChange={(event) => setQuery(event.target.value)}
              placeholder="Search"
              aria-label={`Search the ${label}`}
            />
            <span className="muted json-hits" role="status">
              {found !== undefined && pluralize(found.hits, 'match', 'matches')}
            </span>
            <button
              type="button"
              className="link-button"
              disabled={found !== undefined}
              onClick={() => setExpansion({ levels: Infinity, toggled: NONE })}
            >
              Expand all
            </button>
            <button
              type="button"
              className="link-button"
              disabled={found !== undefined}
              onClick={() => setExpansion({ levels: 1, toggled: NONE })}
            >
              Collapse all
            </button>
          </>
        )}
        <CopyButton text={() => prettyJson(text)} label={label} />
      </div>
      <div
        ref={box}
        className="json-rows mono"
        role="tree"
        aria-label={label}
        tabIndex={0}
        aria-activedescendant={position === -1 ? undefined : `${id}-${position}`}
        onKeyDown={onKeyDown}
        onFocus={() => position === -1 && setSelected(rows[0])}
      >
        <div role="none" style={isVirtual ? { height: virtual.getTotalSize(), position: 'relative' } : undefined}>
          {[...shown].map((index) => {
            const row = rows[index];
            return row === undefined ? null : (
              <JsonRowView
                key={index}
                id={`${id}-${index}`}
                row={row}
                top={isVirtual ? index * ROW_HEIGHT : undefined}
                isSelected={index === position}
                onSelect={() => {
                  setSelected(row);
                  toggle(row);
                }}
              />
            );
          })}
        </div>
      </div>
      {position > 0 && selected !== undefined && <SelectedValue key={pathOf(selected)} row={selected} />}
    </div>
  );
}

/** The path of the selected row, and its value if the row is too short for it. */
function SelectedValue({ row }: { readonly row: JsonRow }) {
  const path = pathOf(row);
  const { value } = row;
  return (
    <div className="json-selected">
      <div className="json-selected-head">
        <bdi className="mono json-path" title={path.length > 300 ? undefined : path}>
          {showHidden(path.length > 300 ? `…${path.slice(-300)}` : path)}
        </bdi>
        <CopyButton text={path} label="the path" caption="Copy path" />
        <CopyButton text={() => asText(value)} label="the value" caption="Copy value" />
      </div>
      {typeof value === 'string' && (value.length > 40 || value.includes('\n')) && (
        <FoldedText text={value} label="the value" className="mono" showsHidden />
      )}
    </div>
  );
}

const SMALL = 40;
const MAX_RENDERED_ROWS = 200;
const NONE: ReadonlySet<unknown> = new Set();

/** Rows are created anew; objects and lists stay the same. */
function isSameRow(a: JsonRow, b: JsonRow | undefined): boolean {
  return b !== undefined && a.key === b.key && a.parent?.value === b.parent?.value && a.depth === b.depth;
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  try {
    return JSON.stringify(value, undefined, 2);
  } catch {
    // JSON.stringify is recursive: the value is nested deeper than the call stack.
    return 'This value is nested too deeply to copy. Copy the entire text instead.';
  }
}
