/**
 * Appends to a file through one descriptor, since opening and closing the file takes longer than most writes. What a
 * failed append has written, e.g. to a full disk, is cut off again.
 */
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

export class AppendedFile {
  private readonly file: string;
  private readonly mode: number;
  private handle: FileHandle | undefined;
  private size = 0;
  private isCutOff = true;

  /** @param mode of a file that doesn't exist yet */
  constructor(file: string, mode: number) {
    this.file = file;
    this.mode = mode;
  }

  /** Whether the file ends with what a failed append has written, because it could not be cut off. */
  get hasRemains(): boolean {
    return !this.isCutOff;
  }

  /** One call at a time. After an error, the file is as it was before, or the next call tries to restore it. */
  async append(text: string): Promise<void> {
    const handle = (this.handle ??= await this.open());
    await this.cutOff(handle);
    const bytes = Buffer.from(text);
    try {
      await handle.appendFile(bytes);
    } catch (error) {
      this.isCutOff = false;
      // Its failure is reported by the next call, which tries again.
      await Promise.allSettled([this.cutOff(handle)]);
      throw error;
    }
    this.size += bytes.length;
  }

  /** The next append opens the file again. @throws if the file still ends with what a failed append has written */
  async close(): Promise<void> {
    const { handle } = this;
    if (handle === undefined) return;
    try {
      await this.cutOff(handle);
    } finally {
      this.handle = undefined;
      await handle.close();
    }
  }

  private async open(): Promise<FileHandle> {
    const handle = await open(this.file, 'a', this.mode);
    if (this.isCutOff) ({ size: this.size } = await handle.stat());
    return handle;
  }

  private async cutOff(handle: FileHandle): Promise<void> {
    if (this.isCutOff) return;
    await handle.truncate(this.size);
    this.isCutOff = true;
  }
}
