/**
 * When a page takes in what came: before the next frame while that costs little, and the rarer the more there is to
 * draw.
 */

export interface PacePorts {
  /** Milliseconds, from any beginning. */
  readonly now: () => number;
  readonly requestFrame: (callback: () => void) => void;
  readonly setTimer: (callback: () => void, milliseconds: number) => void;
  readonly isVisible: () => boolean;
}

/** A step is followed by this many times its own length for everything else: input, other pages, the machine. */
const REST = 15;
/** Milliseconds that a step waits at most, where frames come at all. */
const LONGEST_WAIT = 1_000;

/**
 * @returns calls back once; how long a step takes is measured until its frame is drawn, so that a page keeps the
 * pace of its machine
 */
export function createUpdateThrottle({
  now,
  requestFrame,
  setTimer,
  isVisible,
}: PacePorts): (step: () => void) => void {
  let restUntil = 0;
  const take = (step: () => void): void => {
    const begin = now();
    step();
    // The first task after a frame's callbacks comes when it is drawn.
    setTimer(() => {
      const end = now();
      restUntil = end + Math.min(LONGEST_WAIT, REST * (end - begin));
    }, 0);
  };
  /** Pages that nobody sees have no frames, and no hurry. */
  const atNextFrame = (step: () => void): void => {
    let isTaken = false;
    const takeOnce = (): void => {
      if (isTaken) return;
      isTaken = true;
      take(step);
    };
    if (isVisible()) requestFrame(takeOnce);
    setTimer(takeOnce, LONGEST_WAIT);
  };
  return (step) => {
    const rest = restUntil - now();
    if (rest > 0) setTimer(() => atNextFrame(step), rest);
    else atNextFrame(step);
  };
}
