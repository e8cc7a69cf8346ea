/**
 * A long text of a document, in a file instead of memory. Documents are copied, changed and listed without reading it;
 * a selector, an index or a list operator that looks at it does.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { LLMError } from '../../../../domain/errors/LLMErrors';
import { UnreadableDocumentError } from '../databaseErrors';
import { codeOf, toFileError } from '../embedded/fileErrors';

export class LargeText {
  /** The SHA-256 of its UTF-8 in hexadecimal: equal texts have the same name, so `name` compares them. */
  readonly name: string;
  /** Of its UTF-8. */
  readonly bytes: number;
  private readonly file: string;

  /** @param file named `name` */
  constructor(name: string, bytes: number, file: string) {
    this.name = name;
    this.bytes = bytes;
    this.file = file;
  }

  /** @throws UnreadableDocumentError if the file is missing or damaged, StoreError if it can't be read now */
  async load(): Promise<string> {
    let content: Buffer;
    try {
      content = await readFile(this.file);
    } catch (cause) {
      throw this.unreadable(cause);
    }
    return this.checked(content);
  }

  /** As `load`, without giving other tasks a turn. */
  read(): string {
    let content: Buffer;
    try {
      content = readFileSync(this.file);
    } catch (cause) {
      throw this.unreadable(cause);
    }
    return this.checked(content);
  }

  private checked(content: Buffer): string {
    if (content.length !== this.bytes || nameOfText(content) !== this.name) throw this.damage('is damaged');
    return content.toString('utf8');
  }

  private unreadable(cause: unknown): LLMError {
    return codeOf(cause) === 'ENOENT'
      ? this.damage('is missing', cause)
      : toFileError(`${this.file} could not be read`, cause);
  }

  private damage(problem: string, cause?: unknown): UnreadableDocumentError {
    return new UnreadableDocumentError(
      `${this.file} ${problem}. Restore a backup, or write the document that refers to it again.`,
      cause === undefined ? {} : { cause },
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
