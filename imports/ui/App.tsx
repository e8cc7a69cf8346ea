/** The dashboard: who is there, which page is shown. */
import type { ReactNode } from 'react';
import { useData } from './data/DataContext';
import { OverviewPage } from './overview/OverviewPage';
import { EmptyState, Skeleton } from './components/Placeholders';
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
import { ToolsPage } from './tools/ToolsPage';

export function App() {
  const access = useData().useAccess();
  const route = useRoute();
  const theme = useTheme();
  switch (access.state) {
    case 'asking':
      return (
        <main className="alone">
          <Skeleton what="the dashboard" />
        </main>
      );
    case 'signedOut':
      return (
        <>
          <SimulationNotice />
          <SignInPage means={access.means} />
        </>
      );
    case 'signedIn':
      return (
        <Shell route={route} theme={theme} {...(access.name === undefined ? {} : { name: access.name })}>
          {pageOf(route)}
        </Shell>
      );
  }
}

function pageOf(route: Route): ReactNode {
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
      return <UnknownPage />;
  }
}

function UnknownPage() {
  return (
    <>
      <PageTitle title="Not found" />
      <EmptyState icon="search" title="There is no such page">
        <a href="#/">Go to the overview</a>
      </EmptyState>
    </>
  );
}
