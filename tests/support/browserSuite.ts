/** A suite that `tests/browser/missingBrowser.test.ts` runs in a process of its own. */
import { withBrowser } from './withBrowser';

describe('a suite with a browser', () => {
  withBrowser(() => undefined);
  it('has one', () => undefined);
});
