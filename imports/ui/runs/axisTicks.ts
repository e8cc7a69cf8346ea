/** Round positions for the ticks of a time axis. */
import type { Bar } from './buildTimeline';

/** @returns milliseconds since the axis's start, at most 6 of them */
export function axisTicks({ start, end }: Bar): readonly number[] {
  const span = end - start;
  const step = STEPS_MS.find((candidate) => span / candidate <= 5) ?? Math.ceil(span / 5 / 3_600_000) * 3_600_000;
  return Array.from({ length: Math.floor(span / step) + 1 }, (_, index) => index * step);
}

const STEPS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  1_800_000, 3_600_000,
] as const;
