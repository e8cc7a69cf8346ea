/** Opens the dashboard in a browser's Meteor, as a user who has signed in on an earlier visit. */
import { MeteorBrowser } from './MeteorBrowser';

export interface DashboardVisit {
  readonly userId: string;
  /** Without the `#/`. Default: the first page. */
  readonly path?: string;
  readonly isStrict: boolean;
}

/** @param opened takes the browser, to close it after the test */
export async function openDashboard(
  opened: MeteorBrowser[],
  { userId, path = '', isStrict }: DashboardVisit,
): Promise<MeteorBrowser> {
  const browser = await MeteorBrowser.open({ token: { token: `token-of-${userId}`, userId } });
  opened.push(browser);
  browser.go(path);
  browser.page.mountDashboard(isStrict);
  await browser.waitFor(() => browser.find('.shell') !== null);
  return browser;
}
