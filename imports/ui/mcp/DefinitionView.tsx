/**
 * What a model would be given about a tool, as plain text: a stranger has written it. Characters that a page does not
 * show stand as escapes. If an approved definition differs, both are beside each other with their differences marked.
 */
import { useMemo } from 'react';
import type { McpToolDefinition } from '../../business/mcp/domain/McpServer';
import { FoldedText } from '../components/FoldedText';
import { showHidden } from '../format/hiddenCharacters';
import { wellFormed } from '../format/text';
import { diffTexts } from '../runs/diff/diffTexts';

export function DefinitionView({
  approved,
  current,
}: {
  readonly approved: McpToolDefinition | undefined;
  readonly current: McpToolDefinition | undefined;
}) {
  const shown = current ?? approved;
  if (shown === undefined) return null;
  const texts = textsOf(shown);
  const before = approved === undefined || current === undefined ? texts : textsOf(approved);
  return (
    <>
      {(['description', 'schema'] as const).map((name) =>
        before[name] === texts[name] ? (
          texts[name] !== '' && (
            <FoldedText
              key={name}
              text={texts[name]}
              length={400}
              lines={8}
              label={`the ${name} of ${shown.name}`}
              className={name === 'schema' ? 'muted mono' : 'muted'}
            />
          )
        ) : (
          <Difference key={name} name={name} before={before[name]} after={texts[name]} />
        ),
      )}
    </>
  );
}

function Difference({
  name,
  before,
  after,
}: {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}) {
  const parts = useMemo(() => diffTexts(before, after), [before, after]);
  return (
    <div className="diff-pair">
      {(['left', 'right'] as const).map((side) => {
        const title = side === 'left' ? 'Approved' : 'Current';
        return (
          <div key={side} className={`diff-side diff-${side}`} role="group" aria-label={`${title} ${name}`}>
            <p className="muted">
              {title} {name}
            </p>
            <p className={name === 'schema' ? 'plain-text mono' : 'plain-text'} dir="auto">
              {parts === undefined
                ? wellFormed(side === 'left' ? before : after)
                : parts.map((part, index) => {
                    if (part.side === 'both') return wellFormed(part.text);
                    if (part.side !== side) return null;
                    return side === 'left' ? (
                      <del key={index}>{wellFormed(part.text)}</del>
                    ) : (
                      <ins key={index}>{wellFormed(part.text)}</ins>
                    );
                  })}
            </p>
          </div>
        );
      })}
    </div>
  );
}

function textsOf({ description = '', parameters }: McpToolDefinition): {
  readonly description: string;
  readonly schema: string;
} {
  return { description: showHidden(description), schema: showHidden(JSON.stringify(parameters, undefined, 2)) };
}
