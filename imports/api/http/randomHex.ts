/** Random ids. Their bytes are drawn in blocks, since a draw costs far more than its bytes. Not for secrets. */
import { randomFillSync } from 'node:crypto';

const BLOCK_BYTES = 4_096;
const block = Buffer.alloc(BLOCK_BYTES);
let used = BLOCK_BYTES;

/** @param bytes at most 4,096 */
export function randomHex(bytes: number): string {
  if (used + bytes > BLOCK_BYTES) {
    randomFillSync(block);
    used = 0;
  }
  const from = used;
  used += bytes;
  return block.toString('hex', from, used);
}
