/**
 * Requests that an official SDK builds (URL, authentication, versions, headers), sent over the guarded fetch. The SDK's
 * own transport is not used: its retries, timers, loggers and error classes cost more than the request, and lose parts
 * of the vendor's response. The head of a request is the same for every call of one credential to one path, so it is
 * built once and cached.
 */
import { LRUCache } from 'lru-cache';
import { isLLMError, LLMServerError } from '../../domain/errors/LLMErrors';
import type { Credential } from '../../domain/interfaces/CredentialSource';
import { bodyJson } from '../../domain/util/keptJson';
import type { TransportLimits, VendorName } from '../../domain/types/VendorTypes';
import type { VendorRelay } from './VendorClient';
import type { GuardedFetch } from './http/guardedFetch';
import type { GuardedResponse } from './http/GuardedResponse';
import { sendCall } from './sendCall';
import type { CallOptions } from './sendCall';

/** The part of an SDK's client that is used. */
export interface RequestBuilder {
  buildRequest(options: SdkRequest): Promise<{ req: RequestInit & { headers: Headers }; url: string }>;
}

export interface SdkRequest {
  readonly method: 'get' | 'post' | 'delete';
  readonly path: string;
  readonly body?: object | undefined;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface SdkRequestsOptions {
  readonly vendor: VendorName;
  readonly fetch: GuardedFetch;
  readonly limits: TransportLimits;
  /** Imports the SDK. The function it returns runs once per credential, with the SDK's environment variables hidden. */
  readonly load: () => Promise<(credential: Credential | undefined, options: SdkOptions) => RequestBuilder>;
}

/** Options for every SDK. Its own `fetch` rejects, so that no request bypasses the guarded fetch. */
export interface SdkOptions {
  readonly maxRetries: 0;
  /** SDKs send it in a header; it has no effect here. */
  readonly timeout: number;
  readonly logLevel: 'off';
  readonly fetch: () => Promise<never>;
}

/** How many SDK clients are cached, one per credential, and how many request heads of each. */
const POOL_SIZE = 256;
const MAX_HEADS_PER_CREDENTIAL = 64;

/** A request without its body. */
interface RequestHead {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

interface KnownHead extends Omit<SdkRequest, 'body'> {
  readonly model: unknown;
  readonly token: string | undefined;
  readonly kind: Credential['kind'] | undefined;
  readonly head: RequestHead;
}

interface PooledSdk {
  readonly sdk: RequestBuilder;
  readonly heads: LRUCache<string, RequestHead>;
}

export class SdkRequests {
  private readonly options: SdkRequestsOptions;
  /** Least recently used first. */
  private readonly pool = new Map<string, PooledSdk>();
  /** The heads that calls are waiting for. */
  private readonly building = new Map<string, Promise<RequestHead>>();
  /** Most calls of a program go to one path with one credential. */
  private last: KnownHead | undefined;

  constructor(options: SdkRequestsOptions) {
    this.options = options;
  }

  /**
   * Sends a body that is not JSON of ours. Its response is read at the consumer's pace, so it may have any size.
   * @param request its headers replace the SDK's
   * @throws as `VendorClient.send`
   */
  relay(request: VendorRelay, credential: Credential | undefined): Promise<GuardedResponse> {
    const { vendor, fetch, limits } = this.options;
    const { method, path, query, model, body, userId, signal, timeout } = request;
    const options = { credential, userId, signal, timeout, maxResponseBytes: Infinity };
    return sendCall(vendor, options, limits, async (call) => {
      const pooled = this.pooled(credential) ?? (await this.create(credential));
      const { req, url } = await pooled.sdk.buildRequest({
        method,
        path,
        query,
        // Azure's SDK writes the model into the path.
        body: model === undefined ? undefined : { model },
      });
      const { 'content-length': _, 'content-type': __, ...head } = Object.fromEntries(req.headers);
      const headers = { ...head, accept: '*/*', ...request.headers };
      return fetch(new URL(url), { method: method.toUpperCase(), headers, body, call });
    });
  }

  /** @throws as `VendorClient.send` */
  send(request: SdkRequest, options: CallOptions): Promise<GuardedResponse> {
    const { vendor, fetch, limits } = this.options;
    return sendCall(vendor, options, limits, (call) => {
      const sendWith = ({ url, headers }: RequestHead): Promise<GuardedResponse> => {
        const body = request.body === undefined ? undefined : joined(bodyJson(request.body));
        return fetch(url, { method: request.method.toUpperCase(), headers, body, call });
      };
      const head = this.knownHead(request, options.credential);
      return head === undefined ? this.firstHead(request, options.credential).then(sendWith) : sendWith(head);
    });
  }

  private knownHead(request: SdkRequest, credential: Credential | undefined): RequestHead | undefined {
    const { method, path, query, headers } = request;
    const model = modelOf(request);
    const { last } = this;
    const isLast =
      last?.path === path &&
      last.token === credential?.token &&
      last.kind === credential?.kind &&
      last.model === model &&
      last.headers === headers &&
      last.query === query &&
      last.method === method;
    if (isLast) return last.head;
    const pooled = this.pooled(credential);
    const head = pooled && cachedHead(request, pooled);
    if (head !== undefined)
      this.last = { method, path, query, headers, model, token: credential?.token, kind: credential?.kind, head };
    return head;
  }

  private firstHead(request: SdkRequest, credential: Credential | undefined): Promise<RequestHead> {
    const key = `${credentialKeyOf(credential)} ${headKeyOf(request)}`;
    const known = this.building.get(key);
    if (known !== undefined) return known;
    const forget = (): void => void this.building.delete(key);
    const head = this.createHead(request, credential);
    this.building.set(key, head);
    head.then(forget, forget);
    return head;
  }

  private async createHead(request: SdkRequest, credential: Credential | undefined): Promise<RequestHead> {
    return buildHead(request, this.pooled(credential) ?? (await this.create(credential)));
  }

  private pooled(credential: Credential | undefined): PooledSdk | undefined {
    const key = credentialKeyOf(credential);
    const pooled = this.pool.get(key);
    if (pooled !== undefined) {
      this.pool.delete(key);
      this.pool.set(key, pooled);
    }
    return pooled;
  }

  private async load(): ReturnType<SdkRequestsOptions['load']> {
    const { vendor, load } = this.options;
    try {
      return await load();
    } catch (cause) {
      if (isLLMError(cause)) throw cause;
      const reason = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
      throw new LLMServerError(`The SDK for "${vendor}" could not be loaded: ${reason}`, {
        vendor,
        cause,
        retryable: false,
      });
    }
  }

  private async create(credential: Credential | undefined): Promise<PooledSdk> {
    const { limits } = this.options;
    const construct = await this.load();
    const options = { maxRetries: 0, timeout: limits.totalTimeout, logLevel: 'off', fetch: rejectDirectFetch } as const;
    const pooled = {
      sdk: withoutSdkEnvironment(() => construct(credential, options)),
      heads: new LRUCache<string, RequestHead>({ max: MAX_HEADS_PER_CREDENTIAL }),
    };
    this.pool.set(credentialKeyOf(credential), pooled);
    for (const oldest of this.pool.keys()) {
      if (this.pool.size <= POOL_SIZE) break;
      this.pool.delete(oldest);
    }
    return pooled;
  }
}

/** Characters of a body that is sent as one text, in one piece with the head of the request. */
const SHORT = 32 * 1_024;

/** A single piece is sent as it is. */
function joined(pieces: readonly string[]): string | Uint8Array {
  const [only = '', ...others] = pieces;
  if (others.length === 0) return only;
  if (pieces.reduce((sum, piece) => sum + piece.length, 0) < SHORT) return pieces.join('');
  const length = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
  const bytes = Buffer.allocUnsafe(length);
  let at = 0;
  for (const piece of pieces) at += bytes.write(piece, at);
  return bytes;
}

function cachedHead(request: SdkRequest, { heads }: PooledSdk): RequestHead | undefined {
  return heads.get(headKeyOf(request));
}

async function buildHead(request: SdkRequest, { sdk, heads }: PooledSdk): Promise<RequestHead> {
  const { body, ...rest } = request;
  const { req, url } = await sdk.buildRequest(
    body === undefined ? rest : { ...rest, body: { model: modelOf(request) } },
  );
  const head = { url: new URL(url), headers: Object.fromEntries(req.headers) };
  heads.set(headKeyOf(request), head);
  return head;
}

/** All that a head depends on. Of the body only the model, which Azure's SDK writes into the path. */
function headKeyOf(request: SdkRequest): string {
  const { method, path, query, headers } = request;
  return JSON.stringify([method, path, query, headers, modelOf(request)]);
}

function modelOf({ body }: SdkRequest): unknown {
  return body !== undefined && 'model' in body ? body.model : undefined;
}

function credentialKeyOf(credential: Credential | undefined): string {
  return credential === undefined ? '' : `${credential.kind}:${credential.token}`;
}

function rejectDirectFetch(): Promise<never> {
  return Promise.reject(new Error('Requests must go through the guarded fetch.'));
}

/**
 * SDKs read keys, base URLs, organisations and headers from variables. The operator's must not leak into users'
 * calls.
 */
export function withoutSdkEnvironment<T>(construct: () => T): T {
  const hidden = Object.entries(process.env).filter(([name]) =>
    /^(?:OPENAI|AZURE_OPENAI|ANTHROPIC|GROQ|GOOGLE|GEMINI)_/.test(name),
  );
  for (const [name] of hidden) Reflect.deleteProperty(process.env, name);
  try {
    return construct();
  } finally {
    for (const [name, value] of hidden) process.env[name] = value;
  }
}
