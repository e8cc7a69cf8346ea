/**
 * The lines of the data files of version 0.2: JSON, `#`, and the CRC-32 of the JSON. Older lines are JSON alone. No
 * flipped bit turns the one form into the other, since JSON ends with `}` and a checksum with a hexadecimal digit.
 */
import { crc32 } from 'node:zlib';
import { isRecord } from '../../query/fieldPaths';

const CHECKSUM = /#[0-9a-f]{8}$/;
const CHECKSUM_LENGTH = 9;

export interface DataLine {
  readonly json: string;
  readonly hasChecksum: boolean;
}

/** Undefined for a damaged line, or one that version 0.2 did not write. */
export function readDataLine(bytes: Buffer): DataLine | undefined {
  const end = bytes.toString('latin1', Math.max(0, bytes.length - CHECKSUM_LENGTH));
  if (CHECKSUM.test(end)) {
    const content = bytes.subarray(0, -CHECKSUM_LENGTH);
    return crc32(content) === parseInt(end.slice(1), 16)
      ? { json: content.toString('utf8'), hasChecksum: true }
      : undefined;
  }
  const json = decode(bytes);
  return json !== undefined && parseRecord(json) !== undefined ? { json, hasChecksum: false } : undefined;
}

/** Documents, deletion marks and index definitions. */
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
