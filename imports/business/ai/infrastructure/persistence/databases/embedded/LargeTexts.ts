/**
 * The long texts of a collection, one file each, so that neither a start nor a query reads what nobody asks for. A text
 * is written before the document that refers to it, and removed after the last such document is gone. What a crash
 * leaves in between is removed at the next start.
 */
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { StoredDocument } from '../../../../domain/interfaces/DocumentCollection';
import { LargeText, nameOfText } from '../query/LargeText';
import { FileText } from './FileText';
import { largeTextsIn, mapTexts } from './mapTexts';

/** UTF-16 code units from which on a text is kept in a file. */
export const LARGE_TEXT_LENGTH = 8 * 1_024;

/** In data files, in place of the text: followed by name and bytes. */
const REFERENCE = '\0large:';
/** In data files, before a short text that begins like a reference. */
const PLAIN = '\0plain:';
const TEMPORARY = '.tmp';

export class LargeTexts {
  private readonly directory: string;
  private isCreated = false;
  /** How often stored documents refer to a text, and documents that are being written. */
  private readonly references = new Map<string, number>();
  /** Readers that may still need texts of documents that have changed since. In the order of their numbers. */
  private readonly readers = new Set<number>();
  private lastReader = 0;
  /** Texts that nothing refers to, with the last reader that may need them. */
  private readonly unused = new Map<string, number>();

  /** @param directory created by the first text */
  constructor(directory: string) {
    this.directory = directory;
  }

  /** Writes the long texts of documents that are about to be stored. `release` them if they are not. */
  async store<T extends StoredDocument>(documents: readonly T[]): Promise<readonly T[]> {
    const added: LargeText[] = [];
    try {
      const stored: T[] = [];
      for (const document of documents) stored.push(await this.storeTexts(document, added));
      this.count(
        stored.flatMap((document) => largeTextsIn(document)),
        1,
      );
      return stored;
    } finally {
      // By now, the documents count, or they will not be stored.
      this.count(added, -1);
    }
  }

  /** After documents are gone, or have been replaced. */
  release(documents: readonly StoredDocument[]): void {
    this.count(
      documents.flatMap((document) => largeTextsIn(document)),
      -1,
    );
  }

  /** Until the returned function is called, no text is removed that a document refers to now. */
  hold(): () => void {
    const reader = (this.lastReader += 1);
    this.readers.add(reader);
    return () => {
      this.readers.delete(reader);
      this.removeUnused();
    };
  }

  /** A document as the data file has it. */
  encode<T extends StoredDocument>(document: T): T {
    const map = (text: string | LargeText): string => {
      if (text instanceof LargeText) return referenceTo(text);
      return text.startsWith(REFERENCE) || text.startsWith(PLAIN) ? PLAIN + text : text;
    };
    // Only texts change.
    return mapTexts(document, map) as T;
  }

  /** A document of the data file, with references instead of texts. */
  decode<T extends StoredDocument>(document: T): T {
    const map = (text: string | LargeText): string | LargeText => {
      if (typeof text !== 'string' || !text.startsWith('\0')) return text;
      if (text.startsWith(PLAIN)) return text.slice(PLAIN.length);
      const [, name, bytes] = REFERENCE_PATTERN.exec(text) ?? [];
      return name === undefined ? text : new LargeText(name, Number(bytes), new FileText(this.fileOf(name)));
    };
    return mapTexts(document, map) as T;
  }

  /** After a start: counts what documents refer to, and removes the other files. */
  async adopt(documents: readonly StoredDocument[]): Promise<void> {
    this.count(
      documents.flatMap((document) => largeTextsIn(document)),
      1,
    );
    for (const name of await this.files())
      if (!this.references.has(name)) await rm(join(this.directory, name), { force: true });
  }

  /** Writes a text that a data file refers to, which `adopt` counts. @returns the reference */
  async move(text: string): Promise<string> {
    const content = Buffer.from(text);
    const large = this.toLarge(content);
    await this.write(large, content);
    return referenceTo(large);
  }

  private toLarge(content: Uint8Array): LargeText {
    const name = nameOfText(content);
    return new LargeText(name, content.length, new FileText(this.fileOf(name)));
  }

  private async write({ name }: LargeText, content: Uint8Array): Promise<void> {
    const file = this.fileOf(name);
    if (!this.isCreated) await mkdir(this.directory, { recursive: true, mode: 0o700 });
    this.isCreated = true;
    // Also if the file exists: a power failure may have damaged it.
    const handle = await open(file + TEMPORARY, 'w', 0o600);
    try {
      try {
        await handle.writeFile(content);
      } finally {
        await handle.close();
      }
      await rename(file + TEMPORARY, file);
    } catch (error) {
      await rm(file + TEMPORARY, { force: true });
      throw error;
    }
  }

  /** @param added receives what is written, each counted once so that nobody removes it meanwhile */
  private async storeTexts<T>(value: T, added: LargeText[]): Promise<T> {
    const stored = new Map<string, LargeText>();
    for (const text of longTextsIn(value)) {
      const content = Buffer.from(text);
      const large = this.toLarge(content);
      this.count([large], 1);
      added.push(large);
      await this.write(large, content);
      stored.set(text, large);
    }
    if (stored.size === 0) return value;
    return mapTexts(value, (text) => (typeof text === 'string' ? (stored.get(text) ?? text) : text)) as T;
  }

  private count(texts: readonly LargeText[], change: 1 | -1): void {
    for (const { name } of texts) {
      const references = (this.references.get(name) ?? 0) + change;
      if (references > 0) {
        this.references.set(name, references);
        this.unused.delete(name);
      } else {
        this.references.delete(name);
        this.unused.set(name, this.lastReader);
      }
    }
    if (change < 0) this.removeUnused();
  }

  /** Without a pause between the decision and the removal, so that nobody writes the text meanwhile. */
  private removeUnused(): void {
    const [oldest = Infinity] = this.readers;
    for (const [name, lastReader] of this.unused) {
      if (lastReader >= oldest) continue;
      this.unused.delete(name);
      remove(this.fileOf(name));
    }
  }

  private fileOf(name: string): string {
    return join(this.directory, name);
  }

  private async files(): Promise<readonly string[]> {
    try {
      return await readdir(this.directory);
    } catch (error) {
      if (isMissing(error)) return [];
      throw error;
    }
  }
}

const REFERENCE_PATTERN = new RegExp(`^${REFERENCE}([0-9a-f]{64}):(\\d+)$`);

function referenceTo({ name, bytes }: LargeText): string {
  return `${REFERENCE}${name}:${bytes}`;
}

/** Those that belong in files. */
export function longTextsIn(value: unknown): ReadonlySet<string> {
  const found = new Set<string>();
  mapTexts(value, (text) => {
    if (typeof text === 'string' && text.length >= LARGE_TEXT_LENGTH) found.add(text);
    return text;
  });
  return found;
}

function remove(file: string): void {
  try {
    unlinkSync(file);
  } catch (error) {
    if (!isMissing(error)) process.emitWarning(`${file} could not be removed: ${String(error)}`);
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
