/** Parses multipart/form-data (RFC 7578). */

import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';

export interface FormPart {
  readonly name: string;
  readonly filename?: string;
  readonly bytes: Buffer;
}

/** @returns undefined for a body that is not complete */
export function parseMultipart(contentType: string, body: Buffer): readonly FormPart[] | undefined {
  const match = /boundary=(?:"([^"]+)"|([^;]+))/i.exec(contentType);
  const boundary = match?.[1] ?? match?.[2]?.trim();
  if (boundary === undefined) return undefined;
  const text = body.toString('latin1');
  const pieces = text.split(`--${boundary}`);
  if (pieces.length < 2 || !pieces.at(-1)?.startsWith('--')) return undefined;
  return pieces.slice(1, -1).map((piece) => {
    const end = piece.indexOf('\r\n\r\n');
    const head = piece.slice(0, end);
    const filename = /filename="([^"]*)"/i.exec(head)?.[1];
    return omitUndefined({
      name: /[; ]name="([^"]*)"/i.exec(head)?.[1] ?? '',
      filename,
      bytes: Buffer.from(piece.slice(end + 4, -2), 'latin1'),
    });
  });
}

export function textIn(parts: readonly FormPart[], name: string): string | undefined {
  return parts.find((part) => part.name === name)?.bytes.toString();
}
