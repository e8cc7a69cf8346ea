/** Plain text of any length: a long one is folded to its beginning, and a huge one unfolds in steps. */
import { useId, useState } from 'react';
import { formatCount } from '../format/format';
import { showHidden } from '../format/hiddenCharacters';
import { cutText, endOfLines, wellFormed } from '../format/text';

export interface FoldedTextProps {
  readonly text: string;
  /** Characters that are shown at first; default 1,500. */
  readonly length?: number;
  /** Lines that are shown at first; default 16. */
  readonly lines?: number;
  /** Names the text inside a sentence, for screen readers: "the prompt". */
  readonly label: string;
  readonly className?: string;
  /** Whether invisible characters are shown as escapes. */
  readonly showsHidden?: boolean;
}

export function FoldedText({
  text,
  length = 1_500,
  lines = 16,
  label,
  className = '',
  showsHidden = false,
}: FoldedTextProps) {
  const [unfolded, setUnfolded] = useState(0);
  const id = useId();
  // A fold that hides only a few characters costs more than it saves.
  const folded = Math.min(length, endOfLines(text, lines));
  const start = text.length - folded < 200 && endOfLines(text, lines + 3) === text.length ? text.length : folded;
  const end = unfolded === 0 ? start : Math.min(text.length, unfolded);
  const next = Math.min(text.length, end + STEP);
  const rest = text.length - end;
  const shown = wellFormed(cutText(text, end));
  return (
    <div className={`folded ${className}`}>
      <p id={id} className="plain-text" dir="auto">
        {showsHidden ? showHidden(shown) : shown}
        {rest > 0 && '…'}
      </p>
      {(rest > 0 || end > start) && (
        <p className="folded-buttons">
          {rest > 0 && (
            <button type="button" className="link-button" aria-controls={id} onClick={() => setUnfolded(next)}>
              {next === text.length
                ? `Show all (${formatCount(text.length)} characters)`
                : `Show ${formatCount(next - end)} more of ${formatCount(text.length)} characters`}
              <span className="visually-hidden"> of {label}</span>
            </button>
          )}
          {end > start && (
            <button type="button" className="link-button" aria-controls={id} onClick={() => setUnfolded(0)}>
              Show less<span className="visually-hidden"> of {label}</span>
            </button>
          )}
        </p>
      )}
    </div>
  );
}

/** More text than this in one paragraph makes a page slow to lay out. */
const STEP = 100_000;
