import { MOST } from './itInVirtualTime';
import type { VirtualTest } from './itInVirtualTime';
import { VirtualTime } from './VirtualTime';

/**
 * For suites whose tests share a server: from before it is started to after the last test, time passes during the tests
 * only.
 * @returns `it` for these tests. Call this first in the suite
 */
export function suiteInVirtualTime(): (title: string, test: VirtualTest, most?: number) => void {
  let time: VirtualTime;
  before(() => {
    time = VirtualTime.start();
  });
  after(() => time.stop());
  return (title, test, most = MOST) => it(title, () => time.during(most, () => test(time)));
}
