/** Raw text: indented if it is JSON, limited in height, with a copy button. */
import { useMemo } from 'react';
import { prettyJson } from '../format/format';
import { wellFormed } from '../format/text';
import { CopyButton } from './CopyButton';

export interface CodeBlockProps {
  readonly text: string;
  /** Describes the text to screen readers: "arguments of get_weather". */
  readonly label: string;
  /** The text is shown as it is, even if it is JSON. */
  readonly isVerbatim?: boolean;
}

export function CodeBlock({ text, label, isVerbatim = false }: CodeBlockProps) {
  const shown = useMemo(() => wellFormed(isVerbatim ? text : prettyJson(text)), [text, isVerbatim]);
  return (
    <div className="code-block">
      <pre tabIndex={0} aria-label={label} role="group">
        {shown}
      </pre>
      <CopyButton text={shown} label={label} />
    </div>
  );
}
