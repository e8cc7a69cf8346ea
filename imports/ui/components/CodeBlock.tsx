/** Arguments, results and other raw text: indented, bounded in height, copyable. */
import { useMemo } from 'react';
import { prettyJson } from '../format/format';
import { CopyButton } from './CopyButton';

/** @param label what it is, for people who hear it: "arguments of get_weather" */
export function CodeBlock({ text, label }: { readonly text: string; readonly label: string }) {
  const pretty = useMemo(() => prettyJson(text), [text]);
  return (
    <div className="code">
      <pre tabIndex={0} aria-label={label} role="region">
        {pretty}
      </pre>
      <CopyButton text={pretty} label={label} />
    </div>
  );
}
