/** Light or dark: as the system has it, unless the reader chose. */
import { useCallback, useEffect, useState } from 'react';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const KEY = 'bolide-theme';

export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState<Theme>(storedTheme);
  useEffect(() => {
    const system = window.matchMedia('(prefers-color-scheme: dark)');
    const apply = (): void => {
      document.documentElement.dataset['theme'] = theme === 'system' ? (system.matches ? 'dark' : 'light') : theme;
    };
    apply();
    system.addEventListener('change', apply);
    return () => system.removeEventListener('change', apply);
  }, [theme]);
  const choose = useCallback((next: Theme): void => {
    setTheme(next);
    store(next);
  }, []);
  return [theme, choose];
}

function storedTheme(): Theme {
  try {
    return THEMES.find((theme) => theme === window.localStorage.getItem(KEY)) ?? 'system';
  } catch {
    return 'system';
  }
}

/** Browsers may forbid to remember. */
function store(theme: Theme): void {
  try {
    window.localStorage.setItem(KEY, theme);
  } catch {
    // The choice holds until the page is left.
  }
}
