/**
 * The lines of data files: JSON, `#`, and the CRC-32 of the JSON. Lines of earlier versions are JSON alone. No flipped
 * bit turns the one form into the other, since JSON ends with `}` and a checksum with a hexadecimal digit.
 */
import { crc32 } from 'node:zlib';
import { isRecord } from '../query/fieldPaths';
import { escapeLineSeparators } from './escapeLineSeparators';

const CHECKSUM = /#[0-9a-f]{8}$/;
const CHECKSUM_LENGTH = 9;

/** Without its end. */
export function toDataLine(json: string): string {
  const escaped = escapeLineSeparators(json);
  return `${escaped}#${crc32(escaped).toString(16).padStart(8, '0')}`;
}

/** @param line that `checkDataLine` accepts */
export function jsonOfLine(line: string): string {
  return line.endsWith('}') ? line : line.slice(0, -CHECKSUM_LENGTH);
}

export interface CheckedLine {
  readonly json: string;
  /** Undefined for a line of an earlier version. */
  readonly checksum: string | undefined;
}

/** Undefined for a damaged line, or one that this program did not write. */
export function checkDataLine(bytes: Buffer): CheckedLine | undefined {
  const checksum = checksumOf(bytes);
  if (checksum === undefined) {
    const json = decode(bytes);
    return json !== undefined && parseRecord(json) !== undefined ? { json, checksum } : undefined;
  }
  const content = bytes.subarray(0, -CHECKSUM_LENGTH);
  return crc32(content) === parseInt(checksum, 16) ? { json: content.toString('utf8'), checksum } : undefined;
}

/** NeDB writes documents, deletion marks and index definitions. */
export function parseRecord(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const record: unknown = JSON.parse(json);
    return isRecord(record) &&
      (isName(record['_id']) || isRecord(record['$$indexCreated']) || isName(record['$$indexRemoved']))
      ? record
      : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The eight digits at the end of the line, whether they are right or not. */
function checksumOf(bytes: Buffer): string | undefined {
  const end = bytes.toString('latin1', Math.max(0, bytes.length - CHECKSUM_LENGTH));
  return CHECKSUM.test(end) ? end.slice(1) : undefined;
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
