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
    const writeFile = sinon.stub(prototype, 'writeFile');
    const truncate = sinon.stub(prototype, 'truncate');
    async function write(this: FileHandle, content: string | Uint8Array): Promise<void> {
      const code = faults().writes;
      const bytes = Buffer.from(content);
      await writeFile.wrappedMethod.call(this, code === undefined ? bytes : bytes.subarray(0, bytes.length / 2));
      if (code !== undefined) throw systemError(code);
    }
    writeFile.callsFake(write as FileHandle['writeFile']);
    truncate.callsFake(async function (this: FileHandle, length) {
      const code = faults().cuts;
      if (code !== undefined) throw systemError(code);
      await truncate.wrappedMethod.call(this, length);
    });
    this.stubs = [
      writeFile,
      truncate,
      sinon.stub(prototype, 'appendFile').callsFake(write as FileHandle['appendFile']),
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
