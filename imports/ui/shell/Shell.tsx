/** The frame of every page: navigation, connection status, theme, and the simulation notice. */
import type { ReactNode } from 'react';
import { useData } from '../hooks/BolideProvider';
import { Icon } from '../components/Icon';
import type { IconName } from '../components/Icon';
import { useAction } from '../components/useAction';
import { ConnectionStatus } from './ConnectionStatus';
import { Logo } from './Logo';
import type { Route } from './route';
import { SimulationNotice } from './SimulationNotice';
import { ThemeSwitch } from './ThemeSwitch';
import type { ThemeChoice } from './useTheme';

const PAGES = [
  { path: '', icon: 'overview', label: 'Overview' },
  { path: 'runs', icon: 'runs', label: 'Runs' },
  { path: 'playground', icon: 'playground', label: 'Playground' },
  { path: 'tools', icon: 'tools', label: 'Tools' },
  { path: 'providers', icon: 'providers', label: 'Providers' },
] as const satisfies readonly { path: string; icon: IconName; label: string }[];

export interface ShellProps {
  readonly route: Route;
  readonly theme: ThemeChoice;
  readonly name?: string;
  readonly children: ReactNode;
}

export function Shell({ route, theme, name, children }: ShellProps) {
  const { commands } = useData();
  const signOut = useAction(commands.signOut);
  const current = route.path[0] ?? '';
  return (
    <div className="shell">
      <a className="skip-link" href="#bolide-content" onClick={focusContent}>
        Skip to content
      </a>
      <header className="sidebar">
        <a className="brand" href="#/" aria-label="Bolide, overview">
          <Logo />
          <span>Bolide</span>
        </a>
        <nav aria-label="Pages">
          <ul>
            {PAGES.map(({ path, icon, label }) => (
              <li key={path}>
                <a
                  href={`#/${path}`}
                  aria-current={current === path || (path === '' && current === 'overview') ? 'page' : undefined}
                >
                  <Icon name={icon} />
                  <span>{label}</span>
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div className="sidebar-footer">
          <ConnectionStatus />
          <div className="sidebar-actions">
            <ThemeSwitch theme={theme} />
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
        <SimulationNotice />
        <main id="bolide-content" tabIndex={-1}>
          {children}
        </main>
      </div>
    </div>
  );
}

/** A link to `#bolide-content` would replace the route in the URL. */
function focusContent(event: { preventDefault(): void }): void {
  event.preventDefault();
  document.getElementById('bolide-content')?.focus();
}
