/** Copies a text to the clipboard and confirms it. */
import { useEffect, useState } from 'react';
import { Icon } from './Icon';

export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [state, setState] = useState<keyof typeof LABELS>('idle');
  useEffect(() => {
    if (state === 'idle') return;
    const timer = setTimeout(() => setState('idle'), 1_600);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = (): void => {
    writeText(text).then(
      () => setState('copied'),
      () => setState('failed'),
    );
  };
  return (
    <button type="button" className="copy-button" onClick={copy} aria-label={`Copy ${label}`}>
      <Icon name={state === 'copied' ? 'check' : 'copy'} />
      <span aria-live="polite">{LABELS[state]}</span>
    </button>
  );
}

const LABELS = { idle: 'Copy', copied: 'Copied', failed: 'Couldn’t copy' } as const;

/** Insecure pages have no clipboard. */
async function writeText(text: string): Promise<void> {
  // The DOM types assume a secure page.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard === undefined) throw new Error('This page has no access to the clipboard.');
  await clipboard.writeText(text);
}
