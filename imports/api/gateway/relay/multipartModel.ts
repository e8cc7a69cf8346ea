/** Finds the field `model` of a multipart body and replaces its value, while the rest is passed on unread. */
import { LLMInvalidRequestError } from '../../../business/ai/domain/errors/LLMErrors';
import type { Upload } from './relayStreams';

export interface MultipartModel {
  readonly model: string;
  /** The body with another value. */
  readonly replace: (model: string) => Upload;
  /** Drops the rest of a body that is not sent on. */
  readonly discard: () => Promise<void>;
}

interface Place {
  readonly start: number;
  readonly end: number;
}

/**
 * Reads up to the field: clients that send it after a file have the file kept in memory, within the body limit.
 * @throws LLMInvalidRequestError for a body without the field
 */
export async function readMultipartModel({ headers, body }: Upload): Promise<MultipartModel> {
  const boundary = boundaryOf(headers['content-type'] ?? '');
  const chunks = body[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  let place: Place | undefined;
  let searched = 0;
  while (place === undefined) {
    const next = await chunks.next();
    if (next.done === true) throw new LLMInvalidRequestError('You must provide a model.', { path: 'model' });
    head = Buffer.concat([head, next.value]);
    place = findModel(head, boundary, searched);
    // A field that has not arrived completely is searched again.
    searched = Math.max(0, head.length - MAX_FIELD);
  }
  const { start, end } = place;
  const model = head.toString('utf8', start, end);
  return {
    model,
    discard: async () => {
      await chunks.return?.();
    },
    replace: (replacement) => {
      const written = Buffer.from(replacement);
      const length = headers['content-length'];
      const changed = written.length - (end - start);
      return {
        headers: {
          ...headers,
          ...(length === undefined ? {} : { 'content-length': String(Number(length) + changed) }),
        },
        body: joined([head.subarray(0, start), written, head.subarray(end)], chunks),
      };
    },
  };
}

/** Bytes of the field with its head. */
const MAX_FIELD = 4 * 1024;

function boundaryOf(contentType: string): string {
  const match = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(contentType);
  return match?.[1] ?? match?.[2] ?? '';
}

/** A file cannot contain the boundary, so what follows one is the head of a part (RFC 7578). */
function findModel(bytes: Buffer, boundary: string, from: number): Place | undefined {
  const delimiter = `--${boundary}\r\n`;
  for (let at = bytes.indexOf(delimiter, from, 'latin1'); at !== -1; at = bytes.indexOf(delimiter, at + 1, 'latin1')) {
    const headEnd = bytes.indexOf('\r\n\r\n', at, 'latin1');
    if (headEnd === -1) return undefined;
    if (!/^content-disposition:[^\r\n]*;\s*name="?model"?\s*(?:;|$)/im.test(bytes.toString('latin1', at, headEnd)))
      continue;
    const start = headEnd + '\r\n\r\n'.length;
    const end = bytes.indexOf(`\r\n--${boundary}`, start, 'latin1');
    return end === -1 ? undefined : { start, end };
  }
  return undefined;
}

async function* joined(
  first: readonly Uint8Array[],
  rest: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* first;
    for (;;) {
      const next = await rest.next();
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    await rest.return?.();
  }
}
