/** A long text that version 0.2 has kept in a file of its own. */
import { readFileSync } from 'node:fs';
import { codeOf, toFileError } from '../../fileErrors';
import type { TextSource } from '../../query/LargeText';

export class FileText implements TextSource {
  readonly place: string;

  /** @param file its path */
  constructor(file: string) {
    this.place = file;
  }

  load(): Promise<Buffer | undefined> {
    return Promise.resolve(this.read());
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
