/** The hooks of a suite on a server with its dashboard and a browser. */
import type { Environment } from '../../imports/host/settings/environment';
import { DashboardBrowser } from './DashboardBrowser';
import { withBrowser } from './withBrowser';

interface DashboardOptions {
  /** Prepares a directory with data, which is removed in the end. */
  readonly data?: () => Promise<string>;
  readonly env?: Environment;
}

/** @param setUp runs before the suite's tests; the server is closed after them */
export function withDashboard(
  setUp: (app: DashboardBrowser) => void | Promise<void>,
  { data, env }: DashboardOptions = {},
): void {
  let app: DashboardBrowser | undefined;
  withBrowser(async (browser) => {
    app = await DashboardBrowser.start(browser, await data?.(), env);
    await setUp(app);
  });
  afterEach(async function () {
    const { state, err } = this.currentTest ?? {};
    if (app === undefined || state !== 'failed' || err === undefined) return;
    // Reports print the stack.
    err.stack = `${err.stack ?? err.message}\n\n${await app.describePages()}`;
  });
  after(() => app?.close());
}
