/**
 * Vectors of memories, stored as one signed byte for each dimension: the angle between two vectors, which is all that
 * is asked of them, hardly changes, and a fourth of the space is enough.
 */

/** @returns base64 */
export function encodeVector(vector: readonly number[]): string {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const scale = largest === 0 ? 0 : 127 / largest;
  return Buffer.from(Int8Array.from(vector, (value) => Math.round(value * scale)).buffer).toString('base64');
}

export function decodeVector(base64: string): Int8Array {
  const bytes = Buffer.from(base64, 'base64');
  return new Int8Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
}

/** The cosine of their angle: from -1 to 1, and 0 for vectors that cannot be compared. */
export function similarity(a: Int8Array, b: Int8Array): number {
  if (a.length !== b.length) return 0;
  let product = 0;
  let squaresOfA = 0;
  let squaresOfB = 0;
  for (let index = 0; index < a.length; index += 1) {
    const left = a[index] ?? 0;
    const right = b[index] ?? 0;
    product += left * right;
    squaresOfA += left * left;
    squaresOfB += right * right;
  }
  return squaresOfA === 0 || squaresOfB === 0 ? 0 : product / Math.sqrt(squaresOfA * squaresOfB);
}
