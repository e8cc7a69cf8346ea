/** Visits rows by their numbers until `visit` returns false. Other tasks get a turn while it takes long. */
import { promisify } from 'node:util';

/** Milliseconds that a scan takes before other tasks get a turn. */
const SLICE_MS = 15;
const nextTurn = promisify(setImmediate);

export async function scanRows(rowids: Iterable<number>, visit: (rowid: number) => boolean): Promise<void> {
  let until = performance.now() + SLICE_MS;
  let at = 0;
  for (const rowid of rowids) {
    if (!visit(rowid)) return;
    at += 1;
    if (at % 500 !== 0 || performance.now() < until) continue;
    await nextTurn();
    until = performance.now() + SLICE_MS;
  }
}
