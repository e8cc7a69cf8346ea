import { VirtualTime } from './VirtualTime';

export type VirtualTest = (time: VirtualTime) => Promise<void>;

/** Milliseconds that may pass in a test. Limits on vendor calls and on connections are longer. */
export const MOST = 20_000;

/**
 * A test in which time passes by itself, for what polls, retries, pauses and expires on the way.
 * @param most milliseconds that may pass; see `VirtualTime.during`
 */
export function itInVirtualTime(title: string, test: VirtualTest, most = MOST): void {
  it(title, async () => {
    const time = VirtualTime.start();
    try {
      await time.during(most, () => test(time));
    } finally {
      time.stop();
    }
  });
}
