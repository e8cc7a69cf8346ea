/** Appends to a file through one descriptor, since opening and closing the file takes longer than most writes. */
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

export class AppendedFile {
  private readonly file: string;
  private readonly mode: number;
  private handle: FileHandle | undefined;

  /** @param mode of a file that doesn't exist yet */
  constructor(file: string, mode: number) {
    this.file = file;
    this.mode = mode;
  }

  /** One call at a time. */
  async append(text: string): Promise<void> {
    this.handle ??= await open(this.file, 'a', this.mode);
    await this.handle.appendFile(text);
  }

  /** Before the file is replaced: the next append opens it again. */
  async close(): Promise<void> {
    const { handle } = this;
    this.handle = undefined;
    await handle?.close();
  }
}
