/** The colour theme: the system's, unless the user chose one. */
import { useCallback, useState, useSyncExternalStore } from 'react';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

export interface ThemeChoice {
  readonly theme: Theme;
  /** What is shown: the choice, or the system's theme. */
  readonly shown: Exclude<Theme, 'system'>;
  readonly choose: (theme: Theme) => void;
}

const STORAGE_KEY = 'bolide-theme';
const DARK = '(prefers-color-scheme: dark)';

export function useTheme(): ThemeChoice {
  const [theme, setTheme] = useState<Theme>(storedTheme);
  const isSystemDark = useSyncExternalStore(subscribe, () => window.matchMedia(DARK).matches);
  const choose = useCallback((next: Theme): void => {
    setTheme(next);
    storeTheme(next);
  }, []);
  return { theme, shown: theme === 'system' ? (isSystemDark ? 'dark' : 'light') : theme, choose };
}

function subscribe(listener: () => void): () => void {
  const system = window.matchMedia(DARK);
  system.addEventListener('change', listener);
  return () => system.removeEventListener('change', listener);
}

function storedTheme(): Theme {
  try {
    return THEMES.find((theme) => theme === window.localStorage.getItem(STORAGE_KEY)) ?? 'system';
  } catch {
    return 'system';
  }
}

/** Browsers may block storage. */
function storeTheme(theme: Theme): void {
  try {
    window.localStorage.setItem(STORAGE_KEY, theme);
  } catch {
    // The choice lasts until the page is closed.
  }
}
