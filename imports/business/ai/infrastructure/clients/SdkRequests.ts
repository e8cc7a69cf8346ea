/**
 * Requests as an official SDK builds them (URL, authentication, versions, headers, serialised body), sent over the guarded fetch. The SDK's own
 * sending is left out: its retries, timers, loggers and error classes cost more than the request and lose what vendors answer.
 */
import type { Credential } from '../../domain/interfaces/CredentialSource';
import type { TransportLimits, VendorName } from '../../domain/types/VendorTypes';
import type { GuardedFetch } from './guardedFetch';
import type { GuardedResponse } from './GuardedResponse';
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
  /** Imports the SDK and makes its client; called once per credential, out of sight of the SDK's environment variables. */
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

/** How many credentials' SDK clients are kept. */
const POOL_SIZE = 256;

export class SdkRequests {
  readonly #options: SdkRequestsOptions;
  /** The least recently used first. */
  readonly #pool = new Map<string, RequestBuilder>();

  constructor(options: SdkRequestsOptions) {
    this.#options = options;
  }

  /** @throws as `VendorClient.send` */
  send(request: SdkRequest, facts: CallFacts): Promise<GuardedResponse> {
    const { vendor, fetch, limits } = this.#options;
    return sendCall(vendor, facts, limits, async (call) => {
      const sdk = this.#pooled(facts.credential) ?? (await this.#create(facts.credential));
      const { req, url } = await sdk.buildRequest(request);
      return fetch(url, { method: request.method.toUpperCase(), headers: req.headers, body: typeof req.body === 'string' ? req.body : undefined, call });
    });
  }

  #pooled(credential: Credential | undefined): RequestBuilder | undefined {
    const key = keyOf(credential);
    const sdk = this.#pool.get(key);
    if (sdk !== undefined) {
      this.#pool.delete(key);
      this.#pool.set(key, sdk);
    }
    return sdk;
  }

  async #create(credential: Credential | undefined): Promise<RequestBuilder> {
    const { load, limits } = this.#options;
    const construct = await load();
    const options = { maxRetries: 0, timeout: limits.totalTimeout, logLevel: 'off', fetch: refuse } as const;
    const sdk = withoutSdkEnvironment(() => construct(credential, options));
    this.#pool.set(keyOf(credential), sdk);
    for (const oldest of this.#pool.keys()) {
      if (this.#pool.size <= POOL_SIZE) break;
      this.#pool.delete(oldest);
    }
    return sdk;
  }
}

function keyOf(credential: Credential | undefined): string {
  return credential === undefined ? '' : `${credential.kind}:${credential.token}`;
}

function refuse(): Promise<never> {
  return Promise.reject(new Error('requests go over the guarded fetch only'));
}

/** SDKs read keys, hosts, organisations and whole headers from variables: the operator's own must not mix into users' calls. */
function withoutSdkEnvironment<T>(construct: () => T): T {
  const hidden = Object.entries(process.env).filter(([name]) => /^(?:OPENAI|AZURE_OPENAI|ANTHROPIC|GROQ)_/.test(name));
  for (const [name] of hidden) Reflect.deleteProperty(process.env, name);
  try {
    return construct();
  } finally {
    for (const [name, value] of hidden) process.env[name] = value;
  }
}
