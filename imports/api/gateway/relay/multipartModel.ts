/** Finds the field `model` of a multipart body and replaces its value, while the rest is passed on as it arrives. */
import { LLMInvalidRequestError } from '../../../business/ai/domain/errors/LLMErrors';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import { isModelField } from '../../../business/ai/infrastructure/vendors/findNamedModels';
import { boundaryOf, readFormPieces } from './readFormPieces';
import type { FormPiece } from './readFormPieces';
import type { Upload } from './relayStreams';

export interface MultipartModel {
  readonly model: string;
  /** The body with another value, in its first part. */
  readonly replace: (model: string) => Upload;
  /** Drops the rest of a body that is not sent on. */
  readonly discard: () => Promise<void>;
}

/**
 * Reads up to the field: clients that send it after a file have the file kept in memory, within the body limit.
 * @throws LLMInvalidRequestError for a body without the field, or one that could be read in several ways. So does the
 *   replaced body, for what follows the field
 */
export async function readMultipartModel({ headers, body }: Upload): Promise<MultipartModel> {
  const boundary = boundaryOf(headers['content-type'] ?? '');
  const pieces = readFormPieces(body, boundary);
  const { before, value, length: removed, next } = await readField(pieces);
  return {
    model: value,
    discard: async () => {
      await pieces.return();
    },
    replace: (model) => {
      const field = Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="model"\r\n\r\n${model}`);
      const length = headers['content-length'];
      // The part that was the first now follows a line break.
      const changed = field.length - removed + '\r\n'.length;
      return {
        headers: {
          ...headers,
          'content-type': `multipart/form-data; boundary=${/^[\w'+.-]+$/.test(boundary) ? boundary : `"${boundary}"`}`,
          ...omitUndefined({ 'content-length': length === undefined ? undefined : String(Number(length) + changed) }),
        },
        body: joined([field, ...before, next], pieces),
      };
    },
  };
}

interface ModelField {
  /** What was read before the field. */
  readonly before: readonly Buffer[];
  readonly value: string;
  /** Bytes of the part. */
  readonly length: number;
  /** What follows it: the next part's head, or the end. */
  readonly next: Buffer;
}

async function readField(pieces: AsyncIterator<FormPiece, void, undefined>): Promise<ModelField> {
  const before: Buffer[] = [];
  let field: Buffer[] | undefined;
  for (;;) {
    const { done, value: piece } = await pieces.next();
    if (done === true) throw new LLMInvalidRequestError('You must provide a model.', { path: 'model' });
    if (field === undefined) {
      if (piece.type === 'head' && piece.name === 'model') field = [piece.bytes];
      else before.push(otherBytes(piece));
    } else if (piece.type === 'content') field.push(piece.bytes);
    else {
      const [head, ...content] = field;
      const value = Buffer.concat(content);
      const length = (head?.length ?? 0) + value.length;
      return { before, value: value.toString(), length, next: otherBytes(piece) };
    }
  }
}

/** @throws LLMInvalidRequestError for a part that vendors could take for the model, or for another one */
function otherBytes(piece: FormPiece): Buffer {
  if (piece.type === 'head' && isModelField(piece.name))
    throw new LLMInvalidRequestError(
      `The form names a second model, in the field "${piece.name}". Send the field "model" once, and no other for models.`,
      { path: 'model' },
    );
  return piece.bytes;
}

async function* joined(
  first: readonly Buffer[],
  rest: AsyncGenerator<FormPiece, void, undefined>,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* first;
    for await (const piece of rest) yield otherBytes(piece);
  } finally {
    await rest.return();
  }
}
