/** A file to send: stored in one content coding, and converted to others when a client first asks for them. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, brotliDecompress, constants, gzip } from 'node:zlib';
import { CONTENT_ENCODINGS } from '../http/preferredEncoding';
import type { ContentEncoding } from '../http/preferredEncoding';

export interface EncodedFileOptions {
  readonly contentType: string;
  readonly body: Buffer;
  /** The encoding of `body`. Default: `identity`. */
  readonly stored?: 'br' | 'identity';
}

export interface EncodedBody {
  readonly body: Buffer;
  /** A strong one, which differs between encodings. */
  readonly etag: string;
}

export class EncodedFile {
  readonly contentType: string;
  readonly encodings: readonly ContentEncoding[];
  private readonly body: Buffer;
  private readonly stored: 'br' | 'identity';
  private readonly encoded = new Map<ContentEncoding, Promise<EncodedBody>>();

  constructor({ contentType, body, stored = 'identity' }: EncodedFileOptions) {
    this.contentType = contentType;
    this.body = body;
    this.stored = stored;
    // Fonts and images are compressed already.
    this.encodings = /^text\//.test(contentType) ? CONTENT_ENCODINGS : ['identity'];
  }

  in(encoding: ContentEncoding): Promise<EncodedBody> {
    const known = this.encoded.get(encoding);
    if (known !== undefined) return known;
    const encoded = this.encode(encoding).then((body) => ({ body, etag: etagOf(body) }));
    this.encoded.set(encoding, encoded);
    return encoded;
  }

  private async encode(encoding: ContentEncoding): Promise<Buffer> {
    if (encoding === this.stored) return this.body;
    const plain = this.stored === 'br' ? await promisify(brotliDecompress)(this.body) : this.body;
    switch (encoding) {
      case 'identity':
        return plain;
      case 'gzip':
        return promisify(gzip)(plain, { level: constants.Z_BEST_COMPRESSION });
      case 'br':
        return promisify(brotliCompress)(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: QUICK_QUALITY } });
    }
  }
}

/** A tenth larger than the best quality's, in a fortieth of the time: somebody waits for it. */
const QUICK_QUALITY = 5;

function etagOf(body: Buffer): string {
  return `"${createHash('sha256').update(body).digest('base64url')}"`;
}
