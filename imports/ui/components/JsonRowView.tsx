/** One line of a JSON tree. */
import type { CSSProperties } from 'react';
import { formatCount } from '../format/format';
import { showHidden } from '../format/hiddenCharacters';
import { cutText } from '../format/text';
import { Icon } from './Icon';
import { isContainer } from './flattenJson';
import type { JsonRow } from './flattenJson';

/** Pixels, as in the style sheet. */
export const ROW_HEIGHT = 23;

export interface JsonRowViewProps {
  readonly id: string;
  readonly row: JsonRow;
  /** Pixels; absent where rows follow each other in the normal flow. */
  readonly top: number | undefined;
  readonly isSelected: boolean;
  readonly onSelect: () => void;
}

export function JsonRowView({ id, row, top, isSelected, onSelect }: JsonRowViewProps) {
  const { key, depth, isExpanded } = row;
  return (
    <div
      id={id}
      role="treeitem"
      aria-level={depth + 1}
      aria-expanded={isExpanded}
      aria-selected={isSelected}
      className={top === undefined ? 'json-row' : 'json-row is-placed'}
      style={{ '--depth': Math.min(depth, MAX_INDENT), top } as CSSProperties}
      onClick={onSelect}
    >
      {isExpanded === undefined ? <span className="json-leaf" /> : <Icon name="chevron" className="json-chevron" />}
      {depth > MAX_INDENT && <span className="json-depth">{depth} </span>}
      {key !== undefined && (
        <>
          <bdi className="json-key">{typeof key === 'number' ? key : quoted(key)}</bdi>
          {': '}
        </>
      )}
      <JsonValue row={row} />
    </div>
  );
}

function JsonValue({ row: { value, isExpanded } }: { readonly row: JsonRow }) {
  if (isContainer(value)) {
    const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
    const count = Object.keys(value).length;
    return (
      <span className="json-brackets">
        {isExpanded === true ? open : `${open}${count === 0 ? '' : '…'}${close}`}
        {count > 0 && <span className="json-count"> {count}</span>}
      </span>
    );
  }
  if (typeof value === 'string')
    return (
      <>
        {/* First, because the row cuts off what is too long for it. */}
        {value.length > MAX_CHARACTERS && (
          <span className="json-count">
            the first {formatCount(MAX_CHARACTERS)} of {formatCount(value.length)} characters{' '}
          </span>
        )}
        <bdi className="json-string">{quoted(value)}</bdi>
      </>
    );
  return <span className={value === null ? 'json-null' : `json-${typeof value}`}>{String(value)}</span>;
}

/** Escapes show line breaks, and what would otherwise be invisible or broken. */
function quoted(text: string): string {
  return `${showHidden(JSON.stringify(cutText(text, MAX_CHARACTERS)))}${text.length > MAX_CHARACTERS ? '…' : ''}`;
}

/** Levels beyond this are not indented further, and show their number instead. */
const MAX_INDENT = 16;
/** More do not fit in a line. */
const MAX_CHARACTERS = 240;
