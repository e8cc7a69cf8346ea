/** The dashboard's root: chooses the page by sign-in state and route. */
import type { ReactNode } from 'react';
import { useData } from './hooks/BolideProvider';
import { OverviewPage } from './overview/OverviewPage';
import { EmptyState } from './components/EmptyState';
import { Skeleton } from './components/Skeleton';
import { PageTitle } from './components/PageTitle';
import { PlaygroundPage } from './playground/PlaygroundPage';
import { ProvidersPage } from './providers/ProvidersPage';
import { RunPage } from './runs/RunPage';
import { RunsPage } from './runs/RunsPage';
import { SignInPage } from './session/SignInPage';
import { useRoute } from './shell/route';
import type { Route } from './shell/route';
import { Shell } from './shell/Shell';
import { SimulationNotice } from './shell/SimulationNotice';
import { useTheme } from './shell/useTheme';
import type { ThemeChoice } from './shell/useTheme';
import { ToolsPage } from './tools/ToolsPage';

export function App() {
  const theme = useTheme();
  return (
    <div className="bolide" data-theme={theme.shown}>
      <CurrentPage theme={theme} />
    </div>
  );
}

function CurrentPage({ theme }: { readonly theme: ThemeChoice }) {
  const access = useData().useAccess();
  const route = useRoute();
  switch (access.state) {
    case 'checking':
      return (
        <main className="centered-page">
          <Skeleton what="the dashboard" />
        </main>
      );
    case 'signedOut':
      return (
        <>
          <SimulationNotice />
          <SignInPage method={access.method} />
        </>
      );
    case 'signedIn':
      return (
        <Shell route={route} theme={theme} {...(access.name === undefined ? {} : { name: access.name })}>
          {renderPage(route)}
        </Shell>
      );
  }
}

function renderPage(route: Route): ReactNode {
  const [page = 'overview', detail] = route.path;
  switch (page) {
    case 'overview':
      return <OverviewPage />;
    case 'runs':
      return detail === undefined ? <RunsPage route={route} /> : <RunPage key={detail} executionId={detail} />;
    case 'tools':
      return <ToolsPage />;
    case 'providers':
      return <ProvidersPage />;
    case 'playground':
      return <PlaygroundPage />;
    default:
      return <PageNotFound />;
  }
}

function PageNotFound() {
  return (
    <>
      <PageTitle title="Page not found" />
      <EmptyState icon="search" title="This page doesn’t exist">
        <a href="#/">Go to the overview</a>
      </EmptyState>
    </>
  );
}
