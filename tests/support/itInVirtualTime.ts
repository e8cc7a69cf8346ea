import { VirtualTime } from './VirtualTime';

/** Virtual milliseconds. Limits on vendor calls and on connections are longer. */
const MOST = 20_000;

/**
 * A test in which time passes timer by timer, for what polls, retries, pauses and expires on the way.
 * @param most milliseconds that may pass; see `VirtualTime.during`
 */
export function itInVirtualTime(title: string, test: (time: VirtualTime) => Promise<void>, most = MOST): void {
  it(title, async () => {
    const time = VirtualTime.start();
    try {
      await time.during(most, () => test(time));
    } finally {
      time.stop();
    }
  });
}
