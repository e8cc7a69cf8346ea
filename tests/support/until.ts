/** Waits for what has no event to wait for: looks again whenever the event loop has turned. */

/** The system's own functions, whatever a test does with time. */
const { setImmediate, setTimeout } = globalThis;

/** Turns after which it is not a matter of this process alone, so that looking all the time would only slow it down. */
const OWN_TURNS = 2_000;

/** It never gives up: the time limit of the test does, and then nothing goes on looking that the test had begun. */
export async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  for (let turns = 0; !(await isTrue()); turns++)
    await new Promise<void>((resolve) => {
      if (turns < OWN_TURNS) setImmediate(resolve);
      else setTimeout(resolve, 2);
    });
}
