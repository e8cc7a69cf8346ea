/** The frame of every page: navigation, connection status, theme, and the simulation notice. */
import { useCallback, useState } from 'react';
import type { ReactNode } from 'react';
import { useData } from '../hooks/BolideProvider';
import { Icon } from '../components/Icon';
import { useAction } from '../components/useAction';
import { useKeyDispatcher, useKeys } from '../keys/keyBindings';
import { keyName } from '../keys/keyName';
import { KeysDialog } from '../keys/KeysDialog';
import { CommandPalette } from '../palette/CommandPalette';
import { useCommands } from '../palette/useCommands';
import { Logo } from './Logo';
import { Navigation } from './Navigation';
import type { Route } from './route';
import { SimulationNotice } from './SimulationNotice';
import type { ThemeChoice, Theme } from './useTheme';
import { linkTo } from './route';
import type { Connection } from '../data/DashboardData';
import { useLostSince } from './useLostSince';
import { THEMES } from './useTheme';
import { useNow } from '../components/useNow';
import { formatDuration } from '../format/format';
import { uiRoot } from './uiRoot';

export interface ShellProps {
  readonly route: Route;
  readonly theme: ThemeChoice;
  readonly name?: string | undefined;
  readonly children: ReactNode;
}

export function Shell({ route, theme, name, children }: ShellProps) {
  const { source } = useData();
  useKeyDispatcher();
  const signOut = useAction(source.commands.signOut);
  const [dialog, setDialog] = useState<'palette' | 'keys'>();
  const close = useCallback(() => setDialog(undefined), []);
  const showKeys = useCallback(() => setDialog('keys'), []);
  const showPalette = (): void => setDialog('palette');
  const paletteCommands = useCommands({ theme, showKeys, signOut: signOut.run });
  useKeys('Everywhere', [
    { key: 'mod+k', label: 'Command palette', run: showPalette },
    { key: '?', label: 'Keyboard shortcuts', run: showKeys },
  ]);
  return (
    <div className="shell">
      <a className="skip-link" href="#bolide-content" onClick={focusContent}>
        Skip to content
      </a>
      <header className="sidebar">
        <a className="brand" href={linkTo([])} aria-label="Bolide, overview">
          <Logo />
          <span>Bolide</span>
        </a>
        <button type="button" className="palette-button" onClick={showPalette}>
          <Icon name="search" />
          <span className="palette-caption">
            Search<span className="visually-hidden">, command palette</span>
          </span>
          <kbd aria-hidden="true">{keyName('mod+k')}</kbd>
        </button>
        <Navigation route={route} />
        <div className="sidebar-footer">
          <ConnectionStatus />
          <div className="sidebar-actions">
            <ThemeSwitch theme={theme} />
            <button
              type="button"
              className="icon-button keys-button"
              onClick={showKeys}
              aria-label="Keyboard shortcuts"
              title="Keyboard shortcuts"
            >
              <Icon name="keyboard" />
            </button>
            <button
              type="button"
              className="icon-button"
              onClick={() => signOut.run()}
              aria-label={name === undefined ? 'Sign out' : `Sign out ${name}`}
              title="Sign out"
            >
              <Icon name="exit" />
            </button>
          </div>
        </div>
      </header>
      <div className="page-area">
        <LostConnection />
        <SimulationNotice data={source} />
        <main id="bolide-content" tabIndex={-1}>
          {children}
        </main>
      </div>
      {dialog === 'palette' && <CommandPalette commands={paletteCommands} onClose={close} />}
      {dialog === 'keys' && <KeysDialog onClose={close} />}
    </div>
  );
}

/** A link to `#bolide-content` would replace the route in the URL. */
function focusContent(event: { preventDefault(): void }): void {
  event.preventDefault();
  uiRoot().getElementById('bolide-content')?.focus();
}

/** Whether the page receives live updates. */
const LABELS: Readonly<Record<Connection, string>> = {
  connecting: 'Connecting…',
  live: 'Live',
  lost: 'Connection lost',
};

function ConnectionStatus() {
  const connection = useData().useConnection();
  const shown = useLostSince(connection) === undefined ? connection : 'lost';
  return (
    <p className={`connection connection-${shown}`} role="status">
      <span className="connection-dot" aria-hidden="true" />
      {LABELS[shown]}
    </p>
  );
}

/** Cycles through the three themes. */
const THEME_STYLES = {
  system: { icon: 'screen', label: 'Theme: system' },
  light: { icon: 'sun', label: 'Theme: light' },
  dark: { icon: 'moon', label: 'Theme: dark' },
} as const satisfies Record<Theme, unknown>;

function ThemeSwitch({ theme: { theme, choose } }: { readonly theme: ThemeChoice }) {
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

/** Streams are reopened once in a while, which takes a moment. */
const PATIENCE_MS = 2_000;

function LostConnection() {
  const since = useLostSince(useData().useConnection());
  const now = useNow(1_000, since !== undefined);
  if (since === undefined || now - since < PATIENCE_MS) return null;
  return (
    <div className="notice notice-lost">
      <Icon name="plug" />
      <p>
        {/* The age would be read out every second. */}
        <span role="alert">Connection lost, retrying.</span>{' '}
        <span className="numeric">
          The data below is at least {formatDuration(Math.floor((now - since) / 1_000) * 1_000)} old.
        </span>
      </p>
    </div>
  );
}
