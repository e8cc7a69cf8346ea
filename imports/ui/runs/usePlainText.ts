/** Whether models' texts are shown as they were written instead of as Markdown. The browser remembers the choice. */
import { useCallback, useState } from 'react';
import { StoredText } from '../components/StoredText';

const stored = new StoredText('bolide-plain-text', 'false');

export function usePlainText(): readonly [isPlain: boolean, setPlain: (isPlain: boolean) => void] {
  const [isPlain, setState] = useState(() => stored.read() === 'true');
  const setPlain = useCallback((next: boolean): void => {
    setState(next);
    stored.write(String(next));
  }, []);
  return [isPlain, setPlain];
}
