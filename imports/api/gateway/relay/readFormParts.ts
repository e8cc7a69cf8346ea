/** Reads the parts of a multipart form as they arrive. */
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { LLMInvalidRequestError } from '../../../business/ai/domain/errors/LLMErrors';

export type FormPart = FormField | FormFile;

export interface FormField {
  readonly name: string;
  readonly value: string;
}

export interface FormFile {
  readonly name: string;
  readonly fileName: string;
  readonly contentType: string;
  /** To be read before the next part. */
  readonly content: AsyncIterable<Uint8Array>;
}

const MAX_HEAD_BYTES = 8 * 1024;

/** @throws LLMInvalidRequestError for a body that is no form; what the body throws */
export async function* readFormParts(
  body: AsyncIterable<Uint8Array>,
  contentType: string,
): AsyncGenerator<FormPart, void, undefined> {
  const { Busboy } = await import('@fastify/busboy');
  let failure: Error | undefined;
  // Errors of the body, such as that of a client that has left, are no errors of the form.
  async function* noting(): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* body;
    } catch (error) {
      failure = error instanceof Error ? error : new Error('The body ended with no Error.');
      throw failure;
    }
  }
  const toError = (cause: unknown): Error =>
    failure ??
    new LLMInvalidRequestError(`The form cannot be read: ${cause instanceof Error ? cause.message : 'it is invalid'}.`);

  const arrived: FormPart[] = [];
  const files = new Set<Readable>();
  let changed = Promise.withResolvers<undefined>();
  const add = (part: FormPart): void => {
    arrived.push(part);
    changed.resolve(undefined);
  };
  const ending = new AbortController();
  let end: { readonly error?: Error } | undefined;
  try {
    const parser = new Busboy({
      headers: { 'content-type': contentType },
      // The body is limited.
      limits: { fieldSize: Infinity, headerSize: MAX_HEAD_BYTES },
      isPartAFile: (_name, type, fileName) => fileName !== undefined || type === 'application/octet-stream',
    });
    parser.on('field', (name: string | undefined, value) => add({ name: name ?? '', value }));
    parser.on('file', (name: string | undefined, content, fileName: string | undefined, _encoding, type) => {
      files.add(content);
      // A file that nobody reads any more may fail.
      content.on('error', () => undefined);
      add({ name: name ?? '', fileName: fileName ?? '', contentType: type, content: readFile(content, toError) });
    });
    void pipeline(noting(), parser, { signal: ending.signal })
      .then(
        () => (end = {}),
        (error: unknown) => {
          end = { error: toError(error) };
          for (const file of files) if (!file.readableEnded) file.destroy(error instanceof Error ? error : undefined);
        },
      )
      .finally(() => changed.resolve(undefined));
  } catch (error) {
    throw toError(error);
  }
  try {
    for (;;) {
      for (let part = arrived.shift(); part !== undefined; part = arrived.shift()) yield part;
      if (end !== undefined) break;
      await changed.promise;
      changed = Promise.withResolvers();
    }
    if (end.error !== undefined) throw end.error;
  } finally {
    ending.abort();
    for (const file of files) file.destroy();
  }
}

async function* readFile(
  content: Readable,
  toError: (cause: unknown) => Error,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    yield* content as AsyncIterable<Uint8Array>;
  } catch (error) {
    throw toError(error);
  }
}
