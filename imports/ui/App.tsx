/** The dashboard's root: chooses the page by sign-in state and route. */
import { Suspense, useEffect } from 'react';
import { useData } from './hooks/BolideProvider';
import { EmptyState } from './components/EmptyState';
import { ErrorBoundary } from './components/ErrorBoundary';
import { Skeleton } from './components/Skeleton';
import { PageTitle } from './components/PageTitle';
import { componentOf, findPage } from './pages';
import { forgetDraft } from './playground/forgetDraft';
import { SignInPage } from './session/SignInPage';
import { useRoute } from './shell/route';
import type { Route } from './shell/route';
import { Shell } from './shell/Shell';
import { SimulationNotice } from './shell/SimulationNotice';
import { useTheme } from './shell/useTheme';
import type { ThemeChoice } from './shell/useTheme';

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
  const isSignedOut = access.state === 'signedOut';
  useEffect(() => {
    // The next one to sign in may be somebody else.
    if (isSignedOut) forgetDraft();
  }, [isSignedOut]);
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
          <SignInPage method={access.method} {...(access.openId === undefined ? {} : { openId: access.openId })} />
        </>
      );
    case 'signedIn':
      return (
        <Shell route={route} theme={theme} {...(access.name === undefined ? {} : { name: access.name })}>
          <CurrentContent route={route} />
        </Shell>
      );
  }
}

function CurrentContent({ route }: { readonly route: Route }) {
  const page = findPage(route);
  const Content = page && componentOf(page, route);
  if (page === undefined || Content === undefined) return <PageNotFound />;
  // Another entry of a page starts with a new state; another filter does not.
  const key = route.path.join('/');
  return (
    <ErrorBoundary resetKey={key}>
      <Suspense fallback={<Skeleton what={page.label.toLowerCase()} />}>
        <Content key={key} route={route} />
      </Suspense>
    </ErrorBoundary>
  );
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
