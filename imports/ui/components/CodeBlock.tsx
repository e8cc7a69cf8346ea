/** Arguments, results and other raw text: indented, limited in height, with a copy button. */
import { useMemo } from 'react';
import { prettyJson } from '../format/format';
import { CopyButton } from './CopyButton';

/** @param label describes the text to screen readers: "arguments of get_weather" */
export function CodeBlock({ text, label }: { readonly text: string; readonly label: string }) {
  const pretty = useMemo(() => prettyJson(text), [text]);
  return (
    <div className="code-block">
      <pre tabIndex={0} aria-label={label} role="region">
        {pretty}
      </pre>
      <CopyButton text={pretty} label={label} />
    </div>
  );
}
