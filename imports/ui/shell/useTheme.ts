/** The colour theme: the system's, unless the user chose one. */
import { useCallback, useState, useSyncExternalStore } from 'react';
import { StoredText } from '../components/StoredText';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export interface ThemeChoice {
  readonly theme: Theme;
  /** What is shown: the choice, or the system's theme. */
  readonly shown: Exclude<Theme, 'system'>;
  readonly choose: (theme: Theme) => void;
}

const stored = new StoredText('bolide-theme', 'system');
const DARK = '(prefers-color-scheme: dark)';

export function useTheme(): ThemeChoice {
  const [theme, setTheme] = useState<Theme>(storedTheme);
  const isSystemDark = useSyncExternalStore(subscribe, () => window.matchMedia(DARK).matches);
  const choose = useCallback((next: Theme): void => {
    setTheme(next);
    stored.write(next);
  }, []);
  return { theme, shown: theme === 'system' ? (isSystemDark ? 'dark' : 'light') : theme, choose };
}

function subscribe(listener: () => void): () => void {
  const system = window.matchMedia(DARK);
  system.addEventListener('change', listener);
  return () => system.removeEventListener('change', listener);
}

function storedTheme(): Theme {
  return THEMES.find((theme) => theme === stored.read()) ?? 'system';
}
