/** The hooks of a suite that needs a browser. Without one the suite is skipped; in CI it fails. */
import type { Browser } from 'playwright-core';
import { openBrowser } from './openBrowser';

/** @param setUp runs before the suite's tests; the browser is closed after them */
export function withBrowser(setUp: (browser: Browser) => void | Promise<void>): void {
  let browser: Browser | undefined;
  before(async function () {
    browser = await openBrowser();
    if (browser === undefined) this.skip();
    await setUp(browser);
  });
  after(() => browser?.close());
}
