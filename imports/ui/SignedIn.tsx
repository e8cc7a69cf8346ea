/** What signed-in users see: the frame around the page of the route. */
import { Suspense, useEffect } from 'react';
import { EmptyState } from './components/EmptyState';
import { ErrorBoundary } from './components/ErrorBoundary';
import { PageTitle } from './components/PageTitle';
import { Skeleton } from './components/Skeleton';
import { findPage, pageOf } from './pages';
import { clickedLink, currentRoute, goTo, linkTo, parseRoute, useRoute } from './shell/route';
import type { Route } from './shell/route';
import { Shell } from './shell/Shell';
import type { ThemeChoice } from './shell/useTheme';

export interface SignedInProps {
  readonly theme: ThemeChoice;
  readonly name?: string | undefined;
}

export function SignedIn(props: SignedInProps) {
  const route = useRoute();
  useEffect(() => {
    document.addEventListener('click', followLink);
    return () => document.removeEventListener('click', followLink);
  }, []);
  return (
    <Shell route={route} {...props}>
      <CurrentContent route={route} />
    </Shell>
  );
}

/** Loads the code of the page in the address ahead of its rendering. */
export function preloadCurrentPage(): void {
  pageOf(currentRoute())?.preload();
}

/** Files and other routes of the server are loaded by the browser. */
function followLink(event: MouseEvent): void {
  const link = clickedLink(event);
  if (link === undefined || pageOf(parseRoute(link)) === undefined) return;
  event.preventDefault();
  goTo(link);
}

function CurrentContent({ route }: { readonly route: Route }) {
  const Content = pageOf(route)?.Component;
  if (Content === undefined) return <PageNotFound />;
  // Another entry of a page starts with a new state; another filter does not.
  const key = route.path.join('/');
  return (
    <ErrorBoundary resetKey={key}>
      <Suspense fallback={<Skeleton what={findPage(route)?.label.toLowerCase() ?? ''} />}>
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
        <a href={linkTo([])}>Go to the overview</a>
      </EmptyState>
    </>
  );
}
