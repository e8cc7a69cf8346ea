/**
 * Gemini's generateContent over the guarded fetch. The official SDK uses the global fetch and takes no key per call, so
 * only its types are used. https://ai.google.dev/api/generate-content
 */
import type { RequestOptions } from '@google/generative-ai';
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { Credential } from '../../domain/interfaces/CredentialSource';
import type { VendorBatchApi } from '../../domain/interfaces/VendorBatches';
import type { TransportLimits, VendorName } from '../../domain/types/VendorTypes';
import { CachedContents } from './CachedContents';
import { GeminiBatches } from './batches/GeminiBatches';
import type { SendBatchRequest } from './batches/batchRequests';
import type { GuardedFetch, GuardedInit } from './http/guardedFetch';
import { googleEmbeddingBody, readGoogleEmbeddings } from './googleEmbeddings';
import { readModelList } from './readModelList';
import { readTokenCount } from './readTokenCount';
import { sendCall } from './sendCall';
import type { CallOptions } from './sendCall';
import type {
  EmbeddingCall,
  EmbeddingReply,
  VendorCall,
  VendorClient,
  VendorHttpResponse,
  VendorRelay,
} from './VendorClient';

export interface GoogleClientOptions {
  readonly vendor: VendorName;
  /** The API's root, in the SDK's form. Default: Google's own. */
  readonly baseURL?: RequestOptions['baseUrl'];
  readonly apiVersion?: RequestOptions['apiVersion'];
  readonly fetch: GuardedFetch;
  readonly limits: TransportLimits;
}

const DEFAULT_BASE_URL = 'https://generativelanguage.googleapis.com';
const DEFAULT_API_VERSION = 'v1beta';

export class GoogleClient implements VendorClient {
  private readonly options: GoogleClientOptions;
  private readonly cachedContents: CachedContents;

  constructor(options: GoogleClientOptions) {
    this.options = options;
    this.cachedContents = new CachedContents(({ model, ...call }, body) =>
      this.request('cachedContents', call, {
        method: 'POST',
        headers: { ...authentication(call.credential), 'content-type': 'application/json' },
        body: JSON.stringify({ model: modelPath(model), ...body }),
      }),
    );
  }

  async send(call: VendorCall): Promise<VendorHttpResponse> {
    const { cachedPrefix } = call;
    if (cachedPrefix === undefined) return this.generate(call);
    return this.cachedContents.send(call, cachedPrefix, (each) => this.generate(each));
  }

  private async generate(call: VendorCall): Promise<VendorHttpResponse> {
    const task = call.stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
    const headers = { ...authentication(call.credential), 'content-type': 'application/json', ...call.headers };
    return this.request(`${modelPath(call.model)}:${task}`, call, {
      method: 'POST',
      headers,
      body: JSON.stringify(call.body),
    });
  }

  /** https://ai.google.dev/api/tokens#method:-models.counttokens */
  async countTokens(call: VendorCall): Promise<number> {
    const path = modelPath(call.model);
    const response = await this.request(`${path}:countTokens`, call, {
      method: 'POST',
      headers: { ...authentication(call.credential), 'content-type': 'application/json', ...call.headers },
      body: JSON.stringify({ generateContentRequest: { model: path, ...call.body } }),
    });
    return readTokenCount(response, 'totalTokens');
  }

  async embed(call: EmbeddingCall): Promise<EmbeddingReply> {
    const path = modelPath(call.model);
    const response = await this.request(`${path}:batchEmbedContents`, call, {
      method: 'POST',
      headers: { ...authentication(call.credential), 'content-type': 'application/json' },
      body: JSON.stringify(googleEmbeddingBody(call, path)),
    });
    return readGoogleEmbeddings(response, call.inputs.length);
  }

  /**
   * `path` is below the version of the API, which the vendor puts after `/upload` and `/download`. Its response is read
   * at the consumer's pace, so it may have any size.
   */
  relay(request: VendorRelay, credential: Credential | undefined): Promise<VendorHttpResponse> {
    const { method, path, query = {}, headers, body, userId, signal, timeout } = request;
    const [, prefix = '', rest = ''] = /^(\/upload|\/download)?\/(.*)$/.exec(path) ?? [];
    const search = new URLSearchParams(query).toString();
    return this.request(
      `${rest}${search === '' ? '' : `?${search}`}`,
      { credential, userId, signal, timeout, maxResponseBytes: Infinity },
      { method: method.toUpperCase(), headers: { ...authentication(credential), ...headers }, body },
      prefix,
    );
  }

  batches(send: SendBatchRequest): VendorBatchApi {
    return new GeminiBatches(send, modelPath);
  }

  async probe(credential: Credential | undefined, signal?: AbortSignal): Promise<void> {
    await this.fetchModels(1, credential, signal);
  }

  /** One page holds up to 1,000. https://ai.google.dev/api/models#method:-models.list */
  async listModels(credential: Credential | undefined, signal?: AbortSignal): Promise<readonly string[]> {
    return readModelList(await this.fetchModels(1_000, credential, signal));
  }

  private async fetchModels(
    pageSize: number,
    credential: Credential | undefined,
    signal: AbortSignal | undefined,
  ): Promise<string> {
    const response = await this.request(
      `models?pageSize=${pageSize}`,
      { signal, credential },
      { headers: authentication(credential) },
    );
    return response.text();
  }

  private request(path: string, options: CallOptions, init: GuardedInit, prefix = ''): Promise<VendorHttpResponse> {
    const { vendor, limits, fetch, baseURL = DEFAULT_BASE_URL, apiVersion = DEFAULT_API_VERSION } = this.options;
    const url = `${baseURL.replace(/\/+$/, '')}${prefix}/${apiVersion}/${path}`;
    return sendCall(vendor, options, limits, (call) => fetch(url, { ...init, call }));
  }
}

function authentication(credential: Credential | undefined): Record<string, string> {
  if (credential === undefined) return {};
  return credential.kind === 'bearer'
    ? { authorization: `Bearer ${credential.token}` }
    : { 'x-goog-api-key': credential.token };
}

/**
 * `gemini-2.5-flash`, `models/gemini-2.5-flash` or `tunedModels/mine`. The name must not escape its part of the
 * path.
 */
function modelPath(model: string): string {
  const segments = model.split('/');
  if (segments.some((each) => each === '' || each === '.' || each === '..')) {
    throw new LLMInvalidRequestError('The model name is invalid.', { vendor: 'google', path: 'model' });
  }
  const path = segments.map(encodeURIComponent).join('/');
  return segments.length === 1 ? `models/${path}` : path;
}
