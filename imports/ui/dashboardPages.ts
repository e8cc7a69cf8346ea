/**
 * The dashboard's pages after sign-in. In the npm package their code is included: see `scripts/package/inlinePages.ts`,
 * which knows the form of the import.
 */
import { preloadable } from './components/preloadable';

export const DASHBOARD_PAGES = preloadable(async () => {
  const { SignedIn, preloadCurrentPage } = await import('./SignedIn');
  preloadCurrentPage();
  return SignedIn;
});
