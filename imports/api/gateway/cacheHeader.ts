/** The headers by which clients ask for cached responses, and learn what they got. */
import type { IncomingMessage } from 'node:http';
import { MAX_CACHE_TTL_MS } from '../../business/ai/domain/entities/cacheLimits';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { CacheLookup, CacheOptions } from '../../business/ai/domain/types/LLMTypes';
import { HttpError } from '../http/HttpError';

export const CACHE_HEADER = 'x-bolide-cache';

/**
 * Reads `x-bolide-cache`: `max-age=<seconds>` uses responses up to that age, and stores new ones for so long;
 * `no-cache` besides it only stores; `no-store` does neither. The request's own `Cache-Control` can only restrict it.
 * @returns undefined if the request is to be sent to a model in any case, and its response not to be stored
 * @throws HttpError 400
 */
export function readCacheHeader({ headers }: Pick<IncomingMessage, 'headers'>): CacheOptions | undefined {
  const given = headers[CACHE_HEADER];
  if (given === undefined) return undefined;
  const directives = String(given)
    .toLowerCase()
    .split(',')
    .map((directive) => directive.trim());
  const ages = directives.flatMap((directive) => /^max-age=(\d{1,9})$/.exec(directive)?.[1] ?? []);
  const isValid = directives.every((each) => each === 'no-cache' || each === 'no-store' || /^max-age=\d+$/.test(each));
  if (!isValid) throw invalidHeader(String(given));
  const general = (headers['cache-control'] ?? '').toLowerCase();
  const has = (directive: string): boolean =>
    directives.includes(directive) || general.split(',').some((each) => each.trim() === directive);
  if (has('no-store')) return undefined;
  const [age, ...others] = ages;
  const ttl = Number(age) * 1_000;
  if (age === undefined || others.length > 0 || ttl > MAX_CACHE_TTL_MS) throw invalidHeader(String(given));
  // No response is so young.
  if (ttl === 0) return undefined;
  return { ttl, ...(has('no-cache') ? { refresh: true } : {}) };
}

/** `age` is in seconds. https://www.rfc-editor.org/rfc/rfc9111#section-5.1 */
export function cacheHeaders({ result, age }: CacheLookup): Readonly<Record<string, string>> {
  return omitUndefined({
    [CACHE_HEADER]: result,
    age: age === undefined ? undefined : String(Math.floor(age / 1_000)),
  });
}

function invalidHeader(given: string): HttpError {
  return new HttpError(
    400,
    `The header ${CACHE_HEADER} must be "max-age=<seconds>" of at most ${MAX_CACHE_TTL_MS / 1_000}, alone or with "no-cache", or "no-store", but is "${given.slice(0, 100)}".`,
    { path: CACHE_HEADER },
  );
}
