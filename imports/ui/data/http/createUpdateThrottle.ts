/**
 * Decides when a page processes what has arrived: before the next frame while updates are cheap, less often as they
 * cost more.
 */

export interface UpdateThrottleOptions {
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  readonly requestFrame: (callback: () => void) => void;
  readonly setTimer: (callback: () => void, milliseconds: number) => void;
  readonly isVisible: () => boolean;
}

/** After an update, this many times its duration is left to everything else: input, other pages, the machine. */
const REST_FACTOR = 15;
/** The longest wait for an update, and for a frame that does not come. */
const MAX_WAIT_MS = 1_000;

/**
 * @returns schedules one update; its duration is measured until its frame is painted, so that a page adapts to its
 * machine
 */
export function createUpdateThrottle({
  now,
  requestFrame,
  setTimer,
  isVisible,
}: UpdateThrottleOptions): (update: () => void) => void {
  let restUntil = 0;
  const runUpdate = (update: () => void): void => {
    const begin = now();
    update();
    // The first task after a frame's callbacks runs once the frame is painted.
    setTimer(() => {
      const end = now();
      restUntil = end + Math.min(MAX_WAIT_MS, REST_FACTOR * (end - begin));
    }, 0);
  };
  /** Hidden pages get no frames, so a timer stands in. */
  const runAtNextFrame = (update: () => void): void => {
    let hasRun = false;
    const runOnce = (): void => {
      if (hasRun) return;
      hasRun = true;
      runUpdate(update);
    };
    if (isVisible()) requestFrame(runOnce);
    setTimer(runOnce, MAX_WAIT_MS);
  };
  return (update) => {
    const rest = restUntil - now();
    if (rest > 0) setTimer(() => runAtNextFrame(update), rest);
    else runAtNextFrame(update);
  };
}

/** The throttle of the page that this code runs in; without a page, updates are made in the next task. */
export function createPageSchedule(): (update: () => void) => void {
  if (typeof requestAnimationFrame !== 'function') return (update) => void setTimeout(update);
  return createUpdateThrottle({
    now: () => performance.now(),
    requestFrame: (callback) => requestAnimationFrame(callback),
    setTimer: (callback, milliseconds) => setTimeout(callback, milliseconds),
    isVisible: () => document.visibilityState === 'visible',
  });
}
