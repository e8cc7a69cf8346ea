/** Parses request bodies as JSON: checks the content type, size, values, nesting depth and encoding. */
import type express from 'express';
import type { Request, RequestHandler } from 'express';
import { HttpError } from './HttpError';
import type { JsonLimits } from './JsonScan';
import { parseJson } from './parseJson';
import { readBytes, tooLarge } from './readBytes';

export interface JsonBodyLimits extends JsonLimits {
  readonly maxBodyBytes: number;
}

/** Sets `request.body` to the parsed body. Passes HttpError and LLMInvalidRequestError to `next`. */
export function jsonBody(application: Pick<typeof express, 'raw'>, limits: JsonBodyLimits): RequestHandler {
  const { maxBodyBytes } = limits;
  const readAny: RequestHandler = application.raw({ limit: maxBodyBytes, type: () => true });
  return (request, response, next) => {
    const refusal = checkContentType(request) ?? checkLength(request, maxBodyBytes);
    if (refusal !== undefined) {
      next(refusal);
      return;
    }
    // Express's parser takes several times longer.
    if (isUnreadAndPlain(request)) {
      readBytes(request, maxBodyBytes)
        .then((bytes) => parseJson(bytes, limits))
        .then((value) => {
          request.body = value;
          next();
        }, next);
      return;
    }
    let isSettled = false;
    const settle = (failed?: unknown): void => {
      if (isSettled) return;
      isSettled = true;
      request.off('data', count);
      if (failed === undefined) next();
      else next(failed);
    };
    // Express's parser reports a body that is too long only after it has read all of it.
    let received = 0;
    const count = (chunk: Buffer): void => {
      received += chunk.length;
      if (received > maxBodyBytes) settle(tooLarge(maxBodyBytes));
    };
    request.on('data', count);
    void readAny(request, response, (failed?: unknown) => {
      if (failed !== undefined || isSettled) {
        settle(failed);
        return;
      }
      Promise.resolve(request.body as unknown)
        .then((bytes) => parseJson(bytes, limits))
        .then((value) => {
          request.body = value;
          settle();
        }, settle);
    });
  };
}

/** A web page can't send this content type to another origin without a CORS preflight, so it is required. */
function checkContentType(request: Request): HttpError | undefined {
  const given = request.headers['content-type'];
  if (given === undefined && !hasBody(request)) return undefined;
  const [mediaType, ...parameters] = (given ?? '').split(';').map((part) => part.trim().toLowerCase());
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '');
  if (mediaType === 'application/json' && (charset === undefined || charset === 'utf-8' || charset === 'utf8'))
    return undefined;
  return new HttpError(415, 'The body must be JSON in UTF-8, sent with the header content-type: application/json.');
}

function checkLength({ headers }: Request, maxBodyBytes: number): HttpError | undefined {
  return Number(headers['content-length']) > maxBodyBytes ? tooLarge(maxBodyBytes) : undefined;
}

/** An app may have read the body already. */
function isUnreadAndPlain(request: Request): boolean {
  const { 'content-encoding': encoding = 'identity' } = request.headers;
  return hasBody(request) && request.body === undefined && !request.readableEnded && encoding === 'identity';
}

function hasBody({ headers }: Request): boolean {
  return (
    headers['transfer-encoding'] !== undefined ||
    (headers['content-length'] !== undefined && headers['content-length'] !== '0')
  );
}
