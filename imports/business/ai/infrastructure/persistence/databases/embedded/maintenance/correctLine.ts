/** Finds what a damaged line was before one of its bits was flipped, which its checksum determines. */
import { crc32 } from 'node:zlib';
import { checkDataLine } from '../dataLine';

const CHECKSUM_LENGTH = 9;
const HASH = 0x23;
const NEWLINE = 0x0a;

/**
 * Undefined if more than a bit was changed. The odds that other damage is taken for a flipped bit are about one to the
 * bits of the line in 2³².
 * @returns the line without its end, or two of them if it was the end between them that was changed
 */
export function correctLine(bytes: Buffer): Buffer | undefined {
  return withChecksum(bytes) ?? withContent(bytes) ?? asTwoLines(bytes);
}

/** The flipped bit is in the checksum. */
function withChecksum(bytes: Buffer): Buffer | undefined {
  const content = bytes.subarray(0, -CHECKSUM_LENGTH);
  const suffix = Buffer.from(`#${crc32(content).toString(16).padStart(8, '0')}`);
  const found = bytes.subarray(-CHECKSUM_LENGTH);
  if (found.length !== suffix.length) return undefined;
  let flipped = 0;
  for (const [at, byte] of suffix.entries()) flipped += countBits(byte ^ (found[at] ?? 0));
  return flipped === 1 ? verified(Buffer.concat([content, suffix])) : undefined;
}

/**
 * The flipped bit is in the JSON. CRCs are linear: the difference of the checksums is that of a message with this one
 * bit, so that of each bit is compared, from the last byte to the first.
 */
function withContent(bytes: Buffer): Buffer | undefined {
  const content = bytes.subarray(0, -CHECKSUM_LENGTH);
  const suffix = bytes.toString('latin1', Math.max(0, bytes.length - CHECKSUM_LENGTH));
  if (!/^#[0-9a-f]{8}$/.test(suffix)) return undefined;
  const difference = (crc32(content) ^ parseInt(suffix.slice(1), 16)) >>> 0;
  const ofBits = Array.from({ length: 8 }, (_, bit) => TABLE[1 << bit] ?? 0);
  for (let at = content.length - 1; at >= 0; at -= 1)
    for (let bit = 0; bit < 8; bit += 1) {
      const ofBit = ofBits[bit] ?? 0;
      if (ofBit === difference) {
        const corrected = Buffer.from(bytes);
        corrected[at] = (bytes[at] ?? 0) ^ (1 << bit);
        return verified(corrected);
      }
      ofBits[bit] = ((ofBit >>> 8) ^ (TABLE[ofBit & 0xff] ?? 0)) >>> 0;
    }
  return undefined;
}

function asTwoLines(bytes: Buffer): Buffer | undefined {
  for (let at = bytes.indexOf(HASH); at !== -1; at = bytes.indexOf(HASH, at + 1)) {
    const end = at + CHECKSUM_LENGTH;
    if (end >= bytes.length || countBits((bytes[end] ?? 0) ^ NEWLINE) !== 1) continue;
    if (checkDataLine(bytes.subarray(0, end))?.checksum === undefined) continue;
    const corrected = Buffer.from(bytes);
    corrected[end] = NEWLINE;
    // The last line of a file has nothing behind it.
    if (end === bytes.length - 1) return corrected.subarray(0, end);
    return checkDataLine(bytes.subarray(end + 1)) === undefined ? undefined : corrected;
  }
  return undefined;
}

function verified(line: Buffer): Buffer | undefined {
  return checkDataLine(line) === undefined ? undefined : line;
}

function countBits(value: number): number {
  let count = 0;
  for (let rest = value; rest !== 0; rest >>>= 1) count += rest & 1;
  return count;
}

/** The CRC-32 of each byte without the inversions at its beginning and end, which cancel out in differences. */
const TABLE = Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  return crc >>> 0;
});
