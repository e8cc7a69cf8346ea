/**
 * Makes the writes of this process to files fail as on a full disk, or as the operating system refuses them: half of
 * the content is written, then comes the error. For tests.
 */
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import sinon from 'sinon';

export class FaultyFiles {
  /** The code that writes fail with, e.g. `ENOSPC`; undefined while they succeed. */
  writes: string | undefined;
  /** The same for cutting off the end of a file. */
  cuts: string | undefined;
  private readonly stubs: readonly sinon.SinonStub[];

  private constructor(prototype: FileHandle) {
    const faults = (): FaultyFiles => this;
    const { writeFile, truncate } = prototype;
    async function write(this: FileHandle, content: string | Uint8Array): Promise<void> {
      const code = faults().writes;
      if (code === undefined) return writeFile.call(this, content);
      const bytes = Buffer.from(content);
      await writeFile.call(this, bytes.subarray(0, bytes.length / 2));
      throw systemError(code);
    }
    this.stubs = [
      sinon.stub(prototype, 'appendFile').callsFake(write),
      sinon.stub(prototype, 'writeFile').callsFake(write),
      sinon.stub(prototype, 'truncate').callsFake(async function (this: FileHandle, length) {
        const code = faults().cuts;
        if (code !== undefined) throw systemError(code);
        return truncate.call(this, length);
      }),
    ];
  }

  /** Until `restore` is called. */
  static async install(): Promise<FaultyFiles> {
    const handle = await open(__filename, 'r');
    await handle.close();
    // Boundary: the class of file handles is not exported.
    return new FaultyFiles(Object.getPrototypeOf(handle) as FileHandle);
  }

  restore(): void {
    for (const stub of this.stubs) stub.restore();
  }
}

export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: as planted by the test`), { code });
}
