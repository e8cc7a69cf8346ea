/**
 * Requests as an official SDK builds them (URL, authentication, versions, headers), sent over the guarded fetch.
 * The SDK's own sending is left out: its retries, timers, loggers and error classes cost more than the request and
 * lose what vendors answer. What it writes before a body is the same for every call of one credential to one place,
 * so it is asked for once.
 */
import type { Credential } from '../../domain/interfaces/CredentialSource';
import type { TransportLimits, VendorName } from '../../domain/types/VendorTypes';
import type { GuardedFetch } from './http/guardedFetch';
import type { GuardedResponse } from './http/GuardedResponse';
import { sendCall } from './sendCall';
import type { CallFacts } from './sendCall';

/** What is used of every SDK. */
export interface RequestBuilder {
  buildRequest(options: SdkRequest): Promise<{ req: RequestInit & { headers: Headers }; url: string }>;
}

export interface SdkRequest {
  readonly method: 'get' | 'post' | 'delete';
  readonly path: string;
  readonly body?: object;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface SdkRequestsOptions {
  readonly vendor: VendorName;
  readonly fetch: GuardedFetch;
  readonly limits: TransportLimits;
  /**
   * Imports the SDK and makes its client; called once per credential, out of sight of the SDK's environment
   * variables.
   */
  readonly load: () => Promise<(credential: Credential | undefined, options: SdkOptions) => RequestBuilder>;
}

/** Options that every SDK gets; nothing may leave by another way than this file's. */
export interface SdkOptions {
  readonly maxRetries: 0;
  /** Told to hosts in a header; it stops nothing here. */
  readonly timeout: number;
  readonly logLevel: 'off';
  readonly fetch: () => Promise<never>;
}

/** How many credentials' SDK clients are kept, and how many heads of each. */
const POOL_SIZE = 256;
const MAX_HEADS = 64;

/** All of a request but its body. */
interface RequestHead {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

interface PooledSdk {
  readonly sdk: RequestBuilder;
  readonly heads: Map<string, RequestHead>;
}

export class SdkRequests {
  private readonly options: SdkRequestsOptions;
  /** The least recently used first. */
  private readonly pool = new Map<string, PooledSdk>();

  constructor(options: SdkRequestsOptions) {
    this.options = options;
  }

  /** @throws as `VendorClient.send` */
  send(request: SdkRequest, facts: CallFacts): Promise<GuardedResponse> {
    const { vendor, fetch, limits } = this.options;
    return sendCall(vendor, facts, limits, async (call) => {
      const pooled = this.pooled(facts.credential) ?? (await this.create(facts.credential));
      const { url, headers } = knownHead(request, pooled) ?? (await writeHead(request, pooled));
      const body = request.body === undefined ? undefined : JSON.stringify(request.body);
      return fetch(url, { method: request.method.toUpperCase(), headers, body, call });
    });
  }

  private pooled(credential: Credential | undefined): PooledSdk | undefined {
    const key = keyOf(credential);
    const pooled = this.pool.get(key);
    if (pooled !== undefined) {
      this.pool.delete(key);
      this.pool.set(key, pooled);
    }
    return pooled;
  }

  private async create(credential: Credential | undefined): Promise<PooledSdk> {
    const { load, limits } = this.options;
    const construct = await load();
    const options = { maxRetries: 0, timeout: limits.totalTimeout, logLevel: 'off', fetch: refuse } as const;
    const pooled = {
      sdk: withoutSdkEnvironment(() => construct(credential, options)),
      heads: new Map<string, RequestHead>(),
    };
    this.pool.set(keyOf(credential), pooled);
    for (const oldest of this.pool.keys()) {
      if (this.pool.size <= POOL_SIZE) break;
      this.pool.delete(oldest);
    }
    return pooled;
  }
}

function knownHead(request: SdkRequest, { heads }: PooledSdk): RequestHead | undefined {
  return heads.get(placeOf(request));
}

async function writeHead(request: SdkRequest, { sdk, heads }: PooledSdk): Promise<RequestHead> {
  const { body, ...rest } = request;
  const { req, url } = await sdk.buildRequest(
    body === undefined ? rest : { ...rest, body: { model: modelOf(request) } },
  );
  const head = { url: new URL(url), headers: Object.fromEntries(req.headers) };
  if (heads.size >= MAX_HEADS) heads.clear();
  heads.set(placeOf(request), head);
  return head;
}

/** What a head depends on; of a body only its model, which Azure's SDK writes into the path. */
function placeOf(request: SdkRequest): string {
  const { method, path, query, headers } = request;
  return JSON.stringify([method, path, query, headers, modelOf(request)]);
}

function modelOf({ body }: SdkRequest): unknown {
  return body !== undefined && 'model' in body ? body.model : undefined;
}

function keyOf(credential: Credential | undefined): string {
  return credential === undefined ? '' : `${credential.kind}:${credential.token}`;
}

function refuse(): Promise<never> {
  return Promise.reject(new Error('requests go over the guarded fetch only'));
}

/**
 * SDKs read keys, hosts, organisations and whole headers from variables: the operator's own must not mix into
 * users' calls.
 */
function withoutSdkEnvironment<T>(construct: () => T): T {
  const hidden = Object.entries(process.env).filter(([name]) => /^(?:OPENAI|AZURE_OPENAI|ANTHROPIC|GROQ)_/.test(name));
  for (const [name] of hidden) Reflect.deleteProperty(process.env, name);
  try {
    return construct();
  } finally {
    for (const [name, value] of hidden) process.env[name] = value;
  }
}
