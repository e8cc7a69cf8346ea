/**
 * Ends what the tests of a file have left behind. A test that lets a process die keeps its timers, which would go on in
 * the same process, and be counted as timers of later tests that use a fake clock.
 */
const pending = new Set<NodeJS.Timeout>();
const { setTimeout: start, clearTimeout: stop } = globalThis;

function startRecorded(callback: (...args: unknown[]) => void, delay?: number, ...args: unknown[]): NodeJS.Timeout {
  const timer = start(() => {
    pending.delete(timer);
    callback(...args);
  }, delay);
  pending.add(timer);
  return timer;
}

// `util.promisify(setTimeout)` is another function, which stays as it is.
globalThis.setTimeout = Object.defineProperties(
  startRecorded,
  Object.getOwnPropertyDescriptors(start),
) as typeof setTimeout;
globalThis.clearTimeout = (timer) => {
  pending.delete(timer as NodeJS.Timeout);
  stop(timer);
};

export const mochaHooks = {
  afterAll(): void {
    for (const timer of pending) stop(timer);
    pending.clear();
  },
};
