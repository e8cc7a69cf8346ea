/** The lines of a file as bytes, one at a time, since a file may be larger than the memory. */
import { open } from 'node:fs/promises';

export interface FileLine {
  /** Without its end. */
  readonly bytes: Buffer;
  /** False for a last line without an end. */
  readonly isComplete: boolean;
}

const NEWLINE = 0x0a;
const CHUNK_BYTES = 1_024 * 1_024;

export async function* readLines(file: string): AsyncGenerator<FileLine> {
  const handle = await open(file, 'r');
  try {
    let pending: Buffer[] = [];
    for (;;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(CHUNK_BYTES), 0, CHUNK_BYTES);
      if (bytesRead === 0) break;
      let from = 0;
      for (;;) {
        const to = buffer.subarray(0, bytesRead).indexOf(NEWLINE, from);
        if (to === -1) break;
        const rest = buffer.subarray(from, to);
        const bytes = pending.length === 0 ? rest : Buffer.concat([...pending, rest]);
        yield { bytes, isComplete: true };
        pending = [];
        from = to + 1;
      }
      if (from < bytesRead) pending.push(buffer.subarray(from, bytesRead));
    }
    if (pending.length > 0) yield { bytes: Buffer.concat(pending), isComplete: false };
  } finally {
    await handle.close();
  }
}
