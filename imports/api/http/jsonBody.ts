/** Parses request bodies as JSON: checks the content type, size, values, nesting depth and encoding. */
import { HttpError } from './HttpError';
import type { HttpHandler, HttpRequest } from './HttpMessages';
import type { JsonLimits } from './JsonScan';
import { parseJson } from './parseJson';
import { hasBody, readBody, tooLarge } from './readBody';

export interface JsonBodyLimits extends JsonLimits {
  readonly maxBodyBytes: number;
}

/** Sets `request.body` to the parsed body. Passes HttpError and LLMInvalidRequestError to `next`. */
export function jsonBody(limits: JsonBodyLimits): HttpHandler {
  const { maxBodyBytes } = limits;
  return (request, _response, next) => {
    const refusal = checkContentType(request) ?? checkLength(request, maxBodyBytes);
    if (refusal !== undefined) {
      next(refusal);
      return;
    }
    readBody(request, maxBodyBytes)
      .then((bytes) => parseJson(bytes, limits))
      .then((value) => {
        request.body = value;
        next();
      }, next);
  };
}

/** A web page can't send this content type to another origin without a CORS preflight, so it is required. */
function checkContentType(request: HttpRequest): HttpError | undefined {
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

function checkLength({ headers }: HttpRequest, maxBodyBytes: number): HttpError | undefined {
  return Number(headers['content-length']) > maxBodyBytes ? tooLarge(maxBodyBytes) : undefined;
}
