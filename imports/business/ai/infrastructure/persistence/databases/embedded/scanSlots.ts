/** Visits slots until `visit` returns false. Other tasks get a turn while it takes long. */
import { promisify } from 'node:util';

/** Milliseconds that a scan takes before other tasks get a turn. */
const SCAN_SLICE_MS = 15;
const nextTick = promisify(setImmediate);

export async function scanSlots(slots: ArrayLike<number>, visit: (slot: number) => boolean): Promise<void> {
  let until = performance.now() + SCAN_SLICE_MS;
  for (let at = 0; at < slots.length; at += 1) {
    if (!visit(slots[at] ?? 0)) return;
    if (at % 500 !== 499 || performance.now() < until) continue;
    await nextTick();
    until = performance.now() + SCAN_SLICE_MS;
  }
}
