/** Puts a text on the clipboard and says that it did. */
import { useEffect, useState } from 'react';
import { Icon } from './Icon';

export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [copied, setCopied] = useState<'no' | 'yes' | 'refused'>('no');
  useEffect(() => {
    if (copied === 'no') return;
    const timer = setTimeout(() => setCopied('no'), 1_600);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = (): void => {
    writeText(text).then(
      () => setCopied('yes'),
      () => setCopied('refused'),
    );
  };
  return (
    <button type="button" className="copy" onClick={copy} aria-label={`Copy ${label}`}>
      <Icon name={copied === 'yes' ? 'check' : 'copy'} />
      <span aria-live="polite">{WORDS[copied]}</span>
    </button>
  );
}

const WORDS = { no: 'Copy', yes: 'Copied', refused: 'Not allowed' } as const;

/** Pages that are not served securely have no clipboard. */
async function writeText(text: string): Promise<void> {
  // The types know secure pages only.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard === undefined) throw new Error('there is no clipboard');
  await clipboard.writeText(text);
}
