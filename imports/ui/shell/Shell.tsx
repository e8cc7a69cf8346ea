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
import { ConnectionStatus } from './ConnectionStatus';
import { LostConnection } from './LostConnection';
import { Logo } from './Logo';
import { Navigation } from './Navigation';
import type { Route } from './route';
import { SimulationNotice } from './SimulationNotice';
import { ThemeSwitch } from './ThemeSwitch';
import type { ThemeChoice } from './useTheme';
import { linkTo } from './route';

export interface ShellProps {
  readonly route: Route;
  readonly theme: ThemeChoice;
  readonly name?: string;
  readonly children: ReactNode;
}

export function Shell({ route, theme, name, children }: ShellProps) {
  const data = useData();
  const { commands } = data;
  useKeyDispatcher();
  const signOut = useAction(commands.signOut);
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
        <SimulationNotice data={data} />
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
  document.getElementById('bolide-content')?.focus();
}
