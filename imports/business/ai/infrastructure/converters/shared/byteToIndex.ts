/** Offsets in a text for vendors that count UTF-8 bytes. */

/** Returns a function that converts a UTF-8 byte offset to an index in the text. */
export function byteToIndex(text: string): (byte: number) => number {
  let bytes: number[] | undefined;
  return (byte) => {
    bytes ??= byteOffsets(text);
    const offsets = bytes;
    if (offsets.length === 0) return Math.max(0, Math.min(Math.trunc(byte), text.length));
    let low = 0;
    let high = text.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((offsets[middle] ?? 0) < byte) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

/** The byte offset of each UTF-16 code unit; empty for ASCII, where both are equal. */
function byteOffsets(text: string): number[] {
  if (!/[\u0080-\uffff]/.test(text)) return [];
  const offsets: number[] = [];
  let bytes = 0;
  for (let index = 0; index < text.length; index += 1) {
    offsets.push(bytes);
    const unit = text.charCodeAt(index);
    const isPairHead = unit >= 0xd800 && unit < 0xdc00 && index + 1 < text.length;
    if (isPairHead) {
      bytes += 4;
      index += 1;
      offsets.push(bytes);
    } else bytes += unit < 0x80 ? 1 : unit < 0x800 ? 2 : 3;
  }
  return offsets;
}
