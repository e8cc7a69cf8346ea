/** For mocha: no test may let a planted secret out of the process, whatever else it is about. */
import { canaryWatch, watchForCanaries } from './canaries';

export const mochaHooks = {
  beforeAll: watchForCanaries,
  afterEach(): void {
    const leaks = canaryWatch.take();
    if (leaks.length > 0)
      throw new Error(
        `a planted secret left the process:\n${leaks.map(({ channel, excerpt }) => `by ${channel}: …${excerpt}…`).join('\n')}`,
      );
  },
};
