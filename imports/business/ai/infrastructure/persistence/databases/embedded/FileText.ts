/** A long text in a file of its own. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { TextSource } from '../query/LargeText';
import { codeOf, toFileError } from './fileErrors';

export class FileText implements TextSource {
  readonly place: string;

  /** @param file its path */
  constructor(file: string) {
    this.place = file;
  }

  async load(): Promise<Buffer | undefined> {
    try {
      return await readFile(this.place);
    } catch (cause) {
      if (codeOf(cause) === 'ENOENT') return undefined;
      throw toFileError(`${this.place} could not be read`, cause);
    }
  }

  read(): Buffer | undefined {
    try {
      return readFileSync(this.place);
    } catch (cause) {
      if (codeOf(cause) === 'ENOENT') return undefined;
      throw toFileError(`${this.place} could not be read`, cause);
    }
  }
}
