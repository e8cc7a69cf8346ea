/** Two texts side by side, with what only one of them has marked. */
import { useMemo } from 'react';
import { wellFormed } from '../../format/text';
import { FoldedText } from '../../components/FoldedText';
import { diffTexts } from './diffTexts';

export interface TextDiffProps {
  /** What the texts are, for screen readers: "prompt". */
  readonly name: string;
  readonly left: string;
  readonly right: string;
}

export function TextDiff({ name, left, right }: TextDiffProps) {
  const parts = useMemo(
    () => (left.length + right.length > MAX_CHARACTERS ? undefined : diffTexts(left, right)),
    [left, right],
  );
  if (left === right)
    return (
      <div className="diff-same">
        <p className="muted">The same in both</p>
        {left !== '' && <FoldedText text={left} label={`the ${name}`} />}
      </div>
    );
  return (
    <div className="diff-pair">
      {(['left', 'right'] as const).map((side) => (
        <div
          key={side}
          className={`diff-side diff-${side}`}
          aria-label={`${name}, run ${side === 'left' ? 'A' : 'B'}`}
          role="group"
        >
          <span className="diff-mark" aria-hidden="true">
            {side === 'left' ? 'A' : 'B'}
          </span>
          {parts === undefined ? (
            <FoldedText text={side === 'left' ? left : right} label={`the ${name}`} />
          ) : (
            <p className="plain-text" dir="auto">
              {parts.map((part, index) => {
                if (part.side === 'both') return wellFormed(part.text);
                if (part.side !== side) return null;
                return side === 'left' ? (
                  <del key={index}>{wellFormed(part.text)}</del>
                ) : (
                  <ins key={index}>{wellFormed(part.text)}</ins>
                );
              })}
              {(side === 'left' ? left : right) === '' && <span className="muted">none</span>}
            </p>
          )}
        </div>
      ))}
    </div>
  );
}

/** Longer texts are shown folded, without marks. */
const MAX_CHARACTERS = 200_000;
