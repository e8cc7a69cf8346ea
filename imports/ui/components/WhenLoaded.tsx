/** Renders a loaded value, or its loading or error state. */
import type { ReactNode } from 'react';
import type { Loaded } from '../data/DashboardData';
import { ErrorState } from './ErrorState';
import { Skeleton } from './Skeleton';

/** @param what names the value inside a sentence: "runs", "the run" */
export function WhenLoaded<T>({
  loaded,
  what,
  children,
}: {
  readonly loaded: Loaded<T>;
  readonly what: string;
  readonly children: (value: T) => ReactNode;
}) {
  switch (loaded.state) {
    case 'loading':
      return <Skeleton what={what} />;
    case 'failed':
      return <ErrorState title={`Couldn’t load ${what}`} message={loaded.error.message} retry={() => loaded.retry()} />;
    case 'ready':
      return <>{children(loaded.value)}</>;
  }
}
