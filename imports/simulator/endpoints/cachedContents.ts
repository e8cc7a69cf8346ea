/**
 * Gemini's cached contents: they are created, read and deleted here, and put in their place in a request that names
 * one.
 * https://ai.google.dev/api/caching
 */
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import { asString, isArray, isObject } from '../json';
import { countInputTokens } from '../model/countTokens';
import { randomAlphanumeric } from '../randomIds';
import { renderJson } from '../rendering/RenderedResponse';
import type { RenderedResponse } from '../rendering/RenderedResponse';
import { reject } from '../validation/Rejection';
import type { Rejection } from '../validation/Rejection';
import { geminiVersion } from '../wires/gemini/geminiBody';
import { readGemini } from '../wires/gemini/readGemini';
import type { WireRequest } from '../wires/WireSimulator';
import type { ObjectArchive, StoredCachedContent } from './ObjectArchive';

export interface CachedContentRequest {
  readonly method: string;
  readonly id?: string;
  readonly keyHash: string;
  readonly body: unknown;
}

const FIELDS: ReadonlySet<string> = new Set([
  'model',
  'contents',
  'systemInstruction',
  'tools',
  'toolConfig',
  'ttl',
  'expireTime',
  'displayName',
]);
/** The fields that a request must not have beside the name of a cached content. */
const HEAD_FIELDS = ['systemInstruction', 'tools', 'toolConfig'] as const;
const DEFAULT_LIFETIME = 3_600;

export function renderCachedContents(
  request: CachedContentRequest,
  wireRequest: Pick<WireRequest, 'vendor' | 'headers' | 'archive'>,
  objects: ObjectArchive,
): RenderedResponse | Rejection {
  const { method, id, keyHash, body } = request;
  if (id === undefined) {
    if (method !== 'POST' || !isObject(body)) return reject('Invalid JSON payload received.');
    return create(body, keyHash, wireRequest, objects);
  }
  const stored = liveContent(objects, `cachedContents/${id}`, keyHash);
  if (stored === undefined) return notFound();
  if (method === 'DELETE') {
    objects.cachedContents.delete(asString(stored.facts.name));
    return renderJson(200, {});
  }
  return method === 'GET' ? renderJson(200, stored.facts) : reject('Method not found.', { status: 404 });
}

/**
 * The request with what its cached content has, and the tokens of that.
 * @param acceptsForeign whether a content that is not stored here is taken for one that the vendor has
 */
export function withCachedContent(
  request: WireRequest,
  keyHash: string,
  objects: ObjectArchive,
  acceptsForeign: boolean,
): { readonly request: WireRequest; readonly cached?: number } | Rejection {
  const { body, model } = request;
  const { cachedContent, cached_content: snake = cachedContent, ...rest } = body;
  if (snake === undefined) return { request };
  if ([...HEAD_FIELDS, 'system_instruction', 'tool_config'].some((field) => field in rest))
    return reject(
      'CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config.\n\n' +
        'Proposed fix: move those values to CachedContent from GenerateContent request.',
    );
  const stored = liveContent(objects, asString(snake), keyHash);
  if (stored === undefined) return acceptsForeign ? { request } : notFound();
  if (stored.model !== model)
    return reject(`Model used by GenerateContent request (models/${model}) and CachedContent has to be the same.`);
  if (!isArray(rest.contents) || rest.contents.length === 0)
    return reject('* GenerateContentRequest.contents: contents is not specified\n');
  const { contents = [], ...head } = stored.prompt;
  const all = [...(isArray(contents) ? contents : []), ...(rest.contents as unknown[])];
  return { request: { ...request, body: { ...rest, ...head, contents: all } }, cached: stored.tokens };
}

function create(
  body: JsonObject,
  keyHash: string,
  { vendor, headers, archive }: Pick<WireRequest, 'vendor' | 'headers' | 'archive'>,
  objects: ObjectArchive,
): RenderedResponse | Rejection {
  const unknown = Object.keys(body).find((field) => !FIELDS.has(field));
  if (unknown !== undefined)
    return reject(`Invalid JSON payload received. Unknown name "${unknown}" at 'cached_content': Cannot find field.`);
  const model = /^models\/([^/]+)$/.exec(asString(body.model))?.[1];
  if (model === undefined) return reject('* CreateCachedContentRequest.cached_content.model: model is not specified\n');
  const seconds =
    body.ttl === undefined ? DEFAULT_LIFETIME : Number(/^(\d+(?:\.\d+)?)s$/.exec(asString(body.ttl))?.[1]);
  if (!(seconds > 0))
    return reject("Invalid value at 'cached_content.ttl' (type.googleapis.com/google.protobuf.Duration)");
  const prompt = Object.fromEntries(
    Object.entries(body).filter(
      ([field]) => field === 'contents' || (HEAD_FIELDS as readonly string[]).includes(field),
    ),
  );
  const readable = { ...prompt, contents: prompt.contents ?? [] };
  const tokens = countInputTokens(readGemini({ vendor, model, body: readable, headers, archive }));
  const minimum = minimumOf(model);
  if (tokens < minimum)
    return reject(`Cached content is too small. total_token_count=${tokens}, min_total_token_count=${minimum}`);
  const now = Date.now();
  const facts = {
    name: `cachedContents/${randomAlphanumeric(40).toLowerCase()}`,
    model: `models/${model}`,
    createTime: new Date(now).toISOString(),
    updateTime: new Date(now).toISOString(),
    expireTime: new Date(now + seconds * 1_000).toISOString(),
    displayName: asString(body.displayName),
    usageMetadata: { totalTokenCount: tokens },
  };
  const expiresAt = now + seconds * 1_000;
  objects.cachedContents.set(facts.name, { facts, model, prompt, tokens, keyHash, expiresAt });
  return renderJson(200, facts);
}

/** Returns the fewest tokens that can be cached, as documented in 2026. */
function minimumOf(model: string): number {
  return geminiVersion(model) >= 3 ? 4_096 : 2_048;
}

/** Others' are not to be told from those that do not exist. */
function liveContent(objects: ObjectArchive, name: string, keyHash: string): StoredCachedContent | undefined {
  const stored = objects.cachedContents.get(name);
  return stored?.keyHash === keyHash && stored.expiresAt > Date.now() ? stored : undefined;
}

function notFound(): Rejection {
  return reject('CachedContent not found (or permission denied)', { status: 403 });
}
