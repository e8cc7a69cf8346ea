/**
 * Divides the bytes of a relayed stream into messages that must be decoded, and runs of messages that differ from the
 * decoded one before them in nothing but their text.
 */
import { isUtf8 } from 'node:buffer';
import type { MessageRun } from '../../domain/types/RelayTarget';
import { MessageTemplate } from './MessageTemplate';

/** A message that grows beyond that is left to the parser, since it would be searched again with every chunk. */
const MAX_PENDING_BYTES = 256 * 1024;
/** Templates that were of no use: the vendor's deltas differ in more than their text, or are changed for the client. */
const MAX_FAILURES = 8;
const NEWLINE = 0x0a;
/** Without comments, ids and further lines of data, which are not relayed. */
const PLAIN_MESSAGE = /^(?:event: [^\n]*\n)?data: [^\n]*\n\n$/;

export class RelayScanner {
  /** False: everything is decoded. */
  private isScanning = true;
  private bytes: Buffer = Buffer.alloc(0);
  /** What follows them in the last chunk. */
  private following: Buffer = Buffer.alloc(0);
  /** The same bytes as `bytes`. */
  private view: DataView = new DataView(new ArrayBuffer(0));
  private at = 0;
  /** The message that was taken last. */
  private message: Buffer | undefined;
  private template: MessageTemplate | undefined;
  private hasMatched = false;
  private failures = 0;

  add(chunk: Uint8Array): void {
    const added = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    const rest = this.bytes.subarray(this.at);
    // Other line ends are permitted, but no vendor sends them.
    if (rest.length + added.length > MAX_PENDING_BYTES || added.includes(0x0d)) this.stop();
    // A message that was cut is joined alone: a copy of every chunk would be twice the garbage.
    const end = rest.length === 0 ? added.length : endOfMessage(rest, added);
    this.following = added.subarray(end);
    this.open(rest.length === 0 ? added : Buffer.concat([rest, added.subarray(0, end)]));
  }

  /** The messages at the current position that are like the decoded one before them. */
  takeRun(): MessageRun | undefined {
    if (this.at === this.bytes.length) this.openFollowing();
    const { template, bytes: all, view } = this;
    if (template === undefined || !this.isScanning) return undefined;
    const start = this.at;
    let count = 0;
    let characters = 0;
    for (let end = template.match(all, view, start); end !== -1; end = template.match(all, view, end)) {
      this.at = end;
      count += 1;
      characters += template.characters;
    }
    if (count === 0) return undefined;
    this.hasMatched = true;
    const bytes = this.bytes.subarray(start, this.at);
    if (isUtf8(bytes)) return { bytes, count, characters };
    this.at = start;
    this.stop();
    return undefined;
  }

  /** The next message that must be decoded, or undefined if there is no complete one. */
  takeMessage(): Uint8Array | undefined {
    if (this.at === this.bytes.length) this.openFollowing();
    const start = this.at;
    if (start === this.bytes.length) return undefined;
    let end = this.bytes.length;
    if (this.isScanning) {
      const blankLine = this.bytes.indexOf('\n\n', start);
      if (blankLine === -1) return undefined;
      end = blankLine + 2;
      while (this.bytes[end] === NEWLINE) end += 1;
    }
    this.at = end;
    this.message = this.bytes.subarray(start, end);
    return this.message;
  }

  /** What is left of an incomplete message. */
  takeRest(): Uint8Array {
    const rest = this.bytes.subarray(this.at);
    this.at = this.bytes.length;
    return rest;
  }

  /** @param isText the message that was taken last is a piece of text and nothing else */
  decoded(isText: boolean): void {
    if (!this.isScanning) return;
    const wasUseless = this.template !== undefined && !this.hasMatched && isText;
    this.hasMatched = false;
    const message = isText && this.message !== undefined ? this.message.toString('latin1') : '';
    this.template = PLAIN_MESSAGE.test(message) ? new MessageTemplate(message) : undefined;
    if (wasUseless) this.fail();
  }

  /** Decodes a run after all, which was taken last. */
  refuse({ bytes }: MessageRun): void {
    this.at -= bytes.length;
    this.template = undefined;
    this.fail();
  }

  private open(bytes: Buffer): void {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    this.at = 0;
    this.message = undefined;
  }

  private openFollowing(): void {
    if (this.following.length === 0) return;
    this.open(this.following);
    this.following = this.following.subarray(this.following.length);
  }

  private fail(): void {
    this.failures += 1;
    if (this.failures >= MAX_FAILURES) this.stop();
  }

  /** From now on, everything is decoded. */
  private stop(): void {
    this.isScanning = false;
    this.template = undefined;
  }
}

/** @returns the position in the chunk after the end of the message that `rest` begins, or after all of the chunk */
function endOfMessage(rest: Buffer, chunk: Buffer): number {
  if (rest.at(-1) === NEWLINE && chunk[0] === NEWLINE) return 1;
  const blankLine = chunk.indexOf('\n\n');
  return blankLine === -1 ? chunk.length : blankLine + 2;
}
