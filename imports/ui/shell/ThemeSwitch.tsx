/** Cycles through the three themes. */
import { Icon } from '../components/Icon';
import { THEMES } from './useTheme';
import type { Theme, ThemeChoice } from './useTheme';

const THEME_STYLES = {
  system: { icon: 'screen', label: 'Theme: system' },
  light: { icon: 'sun', label: 'Theme: light' },
  dark: { icon: 'moon', label: 'Theme: dark' },
} as const satisfies Record<Theme, unknown>;

export function ThemeSwitch({ theme: { theme, choose } }: { readonly theme: ThemeChoice }) {
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'system';
  const { icon, label } = THEME_STYLES[theme];
  return (
    <button
      type="button"
      className="icon-button"
      onClick={() => choose(next)}
      aria-label={`${label}. Change theme`}
      title={label}
    >
      <Icon name={icon} />
    </button>
  );
}
