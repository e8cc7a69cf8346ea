/** Parses request bodies as JSON: checks the content type, size, nesting depth and UTF-8 encoding. */
import type express from 'express';
import type { Request, RequestHandler } from 'express';
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';
import { HttpError } from './HttpError';
import { readBytes, tooLarge } from './readBytes';

export interface JsonBodyLimits {
  readonly maxBodyBytes: number;
  /** Levels of nested objects and arrays. */
  readonly maxJsonDepth: number;
}

/** Sets `request.body` to the parsed body. Passes HttpError and LLMInvalidRequestError to `next`. */
export function jsonBody(
  application: Pick<typeof express, 'raw'>,
  { maxBodyBytes, maxJsonDepth }: JsonBodyLimits,
): RequestHandler {
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
        .then((bytes) => {
          request.body = parseJson(bytes, maxJsonDepth);
        })
        .then(() => next(), next);
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
      try {
        request.body = parseJson(request.body, maxJsonDepth);
      } catch (error) {
        settle(error);
        return;
      }
      settle();
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

/** @throws LLMInvalidRequestError for invalid or too deeply nested JSON */
export function parseJson(body: unknown, maxDepth: number): unknown {
  if (!Buffer.isBuffer(body) || body.length === 0)
    throw new LLMInvalidRequestError('The request has no body. Send a JSON object.', { path: '' });
  if (isDeeperThan(body, maxDepth))
    throw new LLMInvalidRequestError(`The request body is nested deeper than ${maxDepth} levels.`, { path: '' });
  try {
    return JSON.parse(decoder.decode(body));
  } catch {
    // The cause is dropped because it quotes the body, which must not reach logs.
    throw new LLMInvalidRequestError('The request body is not valid JSON.', { path: '' });
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true });

const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/** Checked before parsing, so that a million brackets never become a million objects. */
function isDeeperThan(json: Buffer, maxDepth: number): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (inString) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      depth += 1;
      if (depth > maxDepth) return true;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
  }
  return false;
}
