/**
 * A long text of a document that stays in storage. Documents are copied, changed and listed without reading it; a
 * selector, an index or a list operator that looks at it does.
 */
import { createHash } from 'node:crypto';
import { UnreadableDocumentError } from '../databaseErrors';

/** Where a text is stored. */
export interface TextSource {
  /** For errors: the path of a file. */
  readonly place: string;
  /** Undefined if it is missing. @throws StoreError if it can't be read now */
  load(): Promise<Buffer | undefined>;
  /** Does the same as `load`, synchronously. */
  read(): Buffer | undefined;
}

export class LargeText {
  /** The SHA-256 of its UTF-8 in hexadecimal: equal texts have the same name, so `name` compares them. */
  readonly name: string;
  /** The length of the text in UTF-8. */
  readonly bytes: number;
  private readonly source: TextSource;

  constructor(name: string, bytes: number, source: TextSource) {
    this.name = name;
    this.bytes = bytes;
    this.source = source;
  }

  /** @throws UnreadableDocumentError if it is missing or damaged, StoreError if it can't be read now */
  async load(): Promise<string> {
    return this.checked(await this.source.load());
  }

  /** Does the same as `load`, synchronously. */
  read(): string {
    return this.checked(this.source.read());
  }

  private checked(content: Buffer | undefined): string {
    if (content === undefined) throw this.damage('is missing');
    if (content.length !== this.bytes || nameOfText(content) !== this.name) throw this.damage('is damaged');
    return content.toString('utf8');
  }

  private damage(problem: string): UnreadableDocumentError {
    return new UnreadableDocumentError(
      `${this.source.place} ${problem}. Restore a backup, or write the document that refers to it again.`,
    );
  }
}

export function nameOfText(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** A value that a path leads to, as it was stored. */
export function readTexts(value: unknown): unknown {
  if (value instanceof LargeText) return value.read();
  return Array.isArray(value) && value.some((element) => element instanceof LargeText) ? value.map(readTexts) : value;
}
