/** Copies a text to the clipboard and confirms it. */
import { useEffect, useState } from 'react';
import { Icon } from './Icon';

export interface CopyButtonProps {
  /** The text, or what returns it: a long one is made when it is needed. */
  readonly text: string | (() => string);
  /** Names the text inside a sentence: "the run’s id". */
  readonly label: string;
  /** Default: Copy. */
  readonly caption?: string;
}

export function CopyButton({ text, label, caption = 'Copy' }: CopyButtonProps) {
  const [state, setState] = useState<'idle' | keyof typeof OUTCOMES>('idle');
  useEffect(() => {
    if (state === 'idle') return;
    const timer = setTimeout(() => setState('idle'), 1_600);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = (): void => {
    writeText(typeof text === 'string' ? text : text()).then(
      () => setState('copied'),
      () => setState('failed'),
    );
  };
  // The name begins with what is written on the button, as people say it to a computer.
  const name = caption === 'Copy' ? `Copy ${label}` : `${caption}: ${label}`;
  return (
    <button type="button" className="copy-button" onClick={copy} aria-label={name}>
      <Icon name={state === 'copied' ? 'check' : 'copy'} />
      <span aria-live="polite">{state === 'idle' ? caption : OUTCOMES[state]}</span>
    </button>
  );
}

const OUTCOMES = { copied: 'Copied', failed: 'Couldn’t copy' } as const;

/** Insecure pages have no clipboard. */
async function writeText(text: string): Promise<void> {
  // The DOM types assume a secure page.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (clipboard === undefined) throw new Error('This page has no access to the clipboard.');
  await clipboard.writeText(text);
}
