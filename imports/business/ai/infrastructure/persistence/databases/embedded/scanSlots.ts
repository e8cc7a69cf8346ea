/** Visits slots until `visit` returns false. Other tasks get a turn while it takes long. */
import { promisify } from 'node:util';

/** Milliseconds that a scan takes before other tasks get a turn. */
const SCAN_SLICE_MS = 15;
const nextTick = promisify(setImmediate);

export async function scanSlots(slots: Iterable<number>, visit: (slot: number) => boolean): Promise<void> {
  let until = performance.now() + SCAN_SLICE_MS;
  let at = 0;
  for (const slot of slots) {
    if (!visit(slot)) return;
    at += 1;
    if (at % 500 !== 0 || performance.now() < until) continue;
    await nextTick();
    until = performance.now() + SCAN_SLICE_MS;
  }
}
