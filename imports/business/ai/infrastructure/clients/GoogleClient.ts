/**
 * Gemini's generateContent over the guarded fetch. The official SDK uses the global fetch and takes no key per call, so
 * only its types are used. https://ai.google.dev/api/generate-content
 */
import type { RequestOptions } from '@google/generative-ai';
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { Credential } from '../../domain/interfaces/CredentialSource';
import type { TransportLimits, VendorName } from '../../domain/types/VendorTypes';
import type { GuardedFetch, GuardedInit } from './http/guardedFetch';
import { googleEmbeddingBody, MAX_GOOGLE_BATCH, readGoogleEmbeddings } from './googleEmbeddings';
import { readModelList } from './readModelList';
import { readTokenCount } from './readTokenCount';
import { sendCall } from './sendCall';
import type { CallOptions } from './sendCall';
import type { EmbeddingCall, EmbeddingReply, VendorCall, VendorClient, VendorHttpResponse } from './VendorClient';

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

  constructor(options: GoogleClientOptions) {
    this.options = options;
  }

  async send(call: VendorCall): Promise<VendorHttpResponse> {
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

  /** More inputs than one request may have are sent in several, one after the other. */
  async embed(call: EmbeddingCall): Promise<EmbeddingReply> {
    const { inputs } = call;
    const rest = inputs.slice(MAX_GOOGLE_BATCH);
    const first = await this.embedBatch(
      rest.length === 0 ? call : { ...call, inputs: inputs.slice(0, MAX_GOOGLE_BATCH) },
    );
    if (rest.length === 0) return first;
    const others = await this.embed({ ...call, inputs: rest });
    const { inputTokens: counted, ...reply } = first;
    return {
      ...reply,
      vectors: [...first.vectors, ...others.vectors],
      ...(counted === undefined || others.inputTokens === undefined
        ? {}
        : { inputTokens: counted + others.inputTokens }),
    };
  }

  private async embedBatch(call: EmbeddingCall): Promise<EmbeddingReply> {
    const path = modelPath(call.model);
    const response = await this.request(`${path}:batchEmbedContents`, call, {
      method: 'POST',
      headers: { ...authentication(call.credential), 'content-type': 'application/json' },
      body: JSON.stringify(googleEmbeddingBody(call, path)),
    });
    return readGoogleEmbeddings(response, call.inputs.length);
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

  private request(path: string, options: CallOptions, init: GuardedInit): Promise<VendorHttpResponse> {
    const { vendor, limits, fetch, baseURL = DEFAULT_BASE_URL, apiVersion = DEFAULT_API_VERSION } = this.options;
    const url = `${baseURL.replace(/\/+$/, '')}/${apiVersion}/${path}`;
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
