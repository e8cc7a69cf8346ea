/** The commands that are available on every page. */
import { useMemo } from 'react';
import { PAGES } from '../pages';
import { goTo, linkTo } from '../shell/route';
import { THEMES } from '../shell/useTheme';
import type { ThemeChoice } from '../shell/useTheme';
import type { Command } from './commands';

export interface CommandActions {
  readonly theme: ThemeChoice;
  readonly showKeys: () => void;
  readonly signOut: () => void;
}

export function useCommands({ theme, showKeys, signOut }: CommandActions): readonly Command[] {
  const { choose } = theme;
  return useMemo(
    () => [
      ...PAGES.map(({ path, label, icon }) => ({
        id: `page-${path}`,
        label,
        icon,
        group: 'Pages',
        keywords: 'go to open page',
        run: () => goTo(linkTo([path])),
      })),
      {
        id: 'new-run',
        label: 'New run',
        icon: 'spark',
        group: 'Actions',
        keywords: 'start playground prompt',
        run: () => goTo(linkTo(['playground'])),
      } as const,
      ...THEMES.map((name) => ({
        id: `theme-${name}`,
        label: `Theme: ${name}`,
        icon: THEME_ICONS[name],
        group: 'Actions',
        keywords: 'colour color mode',
        run: () => choose(name),
      })),
      {
        id: 'keys',
        label: 'Keyboard shortcuts',
        icon: 'keyboard',
        group: 'Actions',
        keywords: 'help keys',
        run: showKeys,
      } as const,
      {
        id: 'sign-out',
        label: 'Sign out',
        icon: 'exit',
        group: 'Actions',
        keywords: 'log out leave',
        run: signOut,
      } as const,
    ],
    [choose, showKeys, signOut],
  );
}

const THEME_ICONS = { system: 'screen', light: 'sun', dark: 'moon' } as const;
