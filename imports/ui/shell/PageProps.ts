import type { Route } from './route';

/** What every page receives. */
export interface PageProps {
  readonly route: Route;
}
