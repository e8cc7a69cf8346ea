/** Whether models' texts are shown as they were written instead of as Markdown. The browser remembers the choice. */
import { useCallback, useState } from 'react';

const STORAGE_KEY = 'bolide-plain-text';

export function usePlainText(): readonly [isPlain: boolean, setPlain: (isPlain: boolean) => void] {
  const [isPlain, setState] = useState(storedChoice);
  const setPlain = useCallback((next: boolean): void => {
    setState(next);
    storeChoice(next);
  }, []);
  return [isPlain, setPlain];
}

function storedChoice(): boolean {
  try {
    return window.localStorage.getItem(STORAGE_KEY) === 'true';
  } catch {
    return false;
  }
}

/** Browsers may block storage. */
function storeChoice(isPlain: boolean): void {
  try {
    window.localStorage.setItem(STORAGE_KEY, String(isPlain));
  } catch {
    // The choice lasts until the page is closed.
  }
}
