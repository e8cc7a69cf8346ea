/** The dashboard's root: shows the sign-in page, or loads the pages after it. */
import { Suspense, useEffect } from 'react';
import { ErrorBoundary } from './components/ErrorBoundary';
import type { Preloadable } from './components/preloadable';
import { Skeleton } from './components/Skeleton';
import type { SessionData } from './data/DashboardData';
import { useObservable } from './hooks/useObservable';
import { forgetDraft } from './playground/forgetDraft';
import { SignInPage } from './session/SignInPage';
import type { SignedInProps } from './SignedIn';
import { SimulationNotice } from './shell/SimulationNotice';
import { useTheme } from './shell/useTheme';
import type { ThemeChoice } from './shell/useTheme';

export interface AppProps {
  readonly session: SessionData;
  /** The pages after sign-in. */
  readonly pages: Preloadable<SignedInProps>;
}

export function App(props: AppProps) {
  const theme = useTheme();
  return (
    <div className="bolide" data-theme={theme.shown}>
      <CurrentPage theme={theme} {...props} />
    </div>
  );
}

function CurrentPage({ theme, session, pages }: AppProps & { readonly theme: ThemeChoice }) {
  const access = useObservable(session.access);
  const isSignedOut = access.state === 'signedOut';
  useEffect(() => {
    // The next one to sign in may be somebody else.
    if (isSignedOut) forgetDraft();
  }, [isSignedOut]);
  switch (access.state) {
    case 'checking':
      return <Opening />;
    case 'signedOut':
      return (
        <>
          <SimulationNotice data={session} />
          <SignInPage
            signIn={session.commands.signIn}
            onBegin={pages.preload}
            method={access.method}
            openId={access.openId}
          />
        </>
      );
    case 'signedIn':
      return (
        <ErrorBoundary resetKey="">
          <Suspense fallback={<Opening />}>
            <pages.Component theme={theme} name={access.name} />
          </Suspense>
        </ErrorBoundary>
      );
  }
}

function Opening() {
  return (
    <main className="centered-page">
      <Skeleton what="the dashboard" />
    </main>
  );
}
