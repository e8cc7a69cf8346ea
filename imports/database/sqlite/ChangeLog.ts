/**
 * The statements of a transaction that is still open, in a file beside the database. SQLite writes whole pages, most of
 * which change in every transaction; this file has what changes were acknowledged since the last one, in a tenth of the
 * bytes. After a crash, the statements are executed again.
 *
 * The log belongs to one state of the database, by its number. So after a commit, the log that led to it is void, even
 * if a crash leaves it there.
 */
import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { CorruptDataFileError } from '../CorruptDataFileError';
import type { SqlValue } from './nodeSqlite';

export interface LoggedStatement {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** The number of the state, in eight bytes. */
const HEADER = 8;
/** The header of a record: its length and its CRC-32, in four bytes each. */
const RECORD_HEADER = 8;

export class ChangeLog {
  readonly path: string;
  private descriptor: number | undefined;
  private length = 0;
  /** The number of each text of SQL that the log has. */
  private readonly numbers = new Map<string, number>();

  constructor(path: string) {
    this.path = path;
  }

  /** Bytes. */
  get size(): number {
    return this.length;
  }

  /**
   * Reads what belongs to a state of the database. What a crash has cut off was not acknowledged, and is removed.
   * @returns the statements of each record; none for another state
   * @throws CorruptDataFileError
   */
  read(state: number): readonly (readonly LoggedStatement[])[] {
    this.numbers.clear();
    this.length = 0;
    if (!existsSync(this.path)) return [];
    const content = readFileSync(this.path);
    if (content.length < HEADER || Number(content.readBigUInt64LE()) !== state) return [];
    const records: (readonly LoggedStatement[])[] = [];
    const texts: string[] = [];
    let at = HEADER;
    while (at + RECORD_HEADER <= content.length) {
      const end = at + RECORD_HEADER + content.readUInt32LE(at);
      if (end > content.length) break;
      const payload = content.subarray(at + RECORD_HEADER, end);
      if (crc32(payload) !== content.readUInt32LE(at + 4)) {
        // What is behind it was acknowledged.
        if (end < content.length) throw new CorruptDataFileError(this.path, 'is damaged');
        break;
      }
      records.push(decode(payload, texts));
      at = end;
    }
    for (const [number, text] of texts.entries()) this.numbers.set(text, number);
    this.length = at;
    this.file(state);
    return records;
  }

  /** All of the statements, or after an error none of them. @param state of the database, without them */
  append(statements: readonly LoggedStatement[], state: number): void {
    const file = this.file(state);
    const known = this.numbers.size;
    const record = encode(statements, this.numbers);
    try {
      writeAll(file, record, this.length);
      this.length += record.length;
    } catch (error) {
      for (const [text, number] of this.numbers) if (number >= known) this.numbers.delete(text);
      throw error;
    }
  }

  /** After a commit. The next record begins the log of the next state. */
  clear(): void {
    this.numbers.clear();
    this.length = 0;
    if (this.descriptor !== undefined) ftruncateSync(this.descriptor, 0);
  }

  /** @param isEmpty the file is removed */
  close(isEmpty: boolean): void {
    if (this.descriptor !== undefined) closeSync(this.descriptor);
    this.descriptor = undefined;
    if (isEmpty) rmSync(this.path, { force: true });
  }

  private file(state: number): number {
    this.descriptor ??= openSync(this.path, existsSync(this.path) ? 'r+' : 'w+', 0o600);
    // Also what a failed write has left behind.
    ftruncateSync(this.descriptor, this.length);
    if (this.length > 0) return this.descriptor;
    const header = Buffer.alloc(HEADER);
    header.writeBigUInt64LE(BigInt(state));
    writeAll(this.descriptor, header, 0);
    this.length = HEADER;
    return this.descriptor;
  }
}

function writeAll(file: number, bytes: Buffer, position: number): void {
  for (let written = 0; written < bytes.length;)
    written += writeSync(file, bytes, written, bytes.length - written, position + written);
}

const [NULL, NUMBER, TEXT, BYTES] = [0, 1, 2, 3];

/**
 * @param numbers receives those of new texts, which follow their number once
 * @returns a record with its header
 */
function encode(statements: readonly LoggedStatement[], numbers: Map<string, number>): Buffer {
  const record = Buffer.allocUnsafe(RECORD_HEADER + maxLengthOf(statements));
  let at = RECORD_HEADER;
  const addLength = (length: number): void => {
    at = record.writeUInt32LE(length, at);
  };
  const addText = (text: string): void => {
    const length = record.write(text, at + 4);
    record.writeUInt32LE(length, at);
    at += 4 + length;
  };
  for (const { sql, values } of statements) {
    const number = numbers.get(sql) ?? numbers.size;
    addLength(number);
    if (!numbers.has(sql)) {
      numbers.set(sql, number);
      addText(sql);
    }
    addLength(values.length);
    for (const value of values) {
      if (value === null) at = record.writeUInt8(NULL, at);
      else if (typeof value === 'number') at = record.writeDoubleLE(value, record.writeUInt8(NUMBER, at));
      else if (typeof value === 'string') {
        at = record.writeUInt8(TEXT, at);
        addText(value);
      } else {
        at = record.writeUInt8(BYTES, at);
        addLength(value.length);
        record.set(value, at);
        at += value.length;
      }
    }
  }
  const payload = record.subarray(RECORD_HEADER, at);
  record.writeUInt32LE(payload.length);
  record.writeUInt32LE(crc32(payload), 4);
  return record.subarray(0, at);
}

/** Bytes that a UTF-16 code unit can take in UTF-8. */
const MAX_UTF8 = 3;

function maxLengthOf(statements: readonly LoggedStatement[]): number {
  let length = 0;
  for (const { sql, values } of statements) {
    length += 12 + MAX_UTF8 * sql.length;
    for (const value of values)
      length +=
        typeof value === 'string' ? 5 + MAX_UTF8 * value.length : value instanceof Uint8Array ? 5 + value.length : 9;
  }
  return length;
}

/** @param texts receives new ones */
function decode(payload: Buffer, texts: string[]): readonly LoggedStatement[] {
  let at = 0;
  const readLength = (): number => payload.readUInt32LE((at += 4) - 4);
  const readBytes = (): Buffer => {
    const length = readLength();
    return payload.subarray(at, (at += length));
  };
  const readValue = (): SqlValue => {
    switch (payload[(at += 1) - 1]) {
      case NULL:
        return null;
      case NUMBER:
        return payload.readDoubleLE((at += 8) - 8);
      case TEXT:
        return readBytes().toString('utf8');
      default:
        return readBytes();
    }
  };
  const statements: LoggedStatement[] = [];
  while (at < payload.length) {
    const number = readLength();
    if (number === texts.length) texts.push(readBytes().toString('utf8'));
    const values = Array.from({ length: readLength() }, readValue);
    statements.push({ sql: texts[number] ?? '', values });
  }
  return statements;
}
