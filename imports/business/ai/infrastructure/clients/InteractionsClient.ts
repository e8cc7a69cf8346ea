/**
 * Gemini's Interactions API: requests are built by the official SDK and sent over the guarded fetch. What else the
 * Gemini API has is the other client's. https://ai.google.dev/api/interactions-api
 */
import type { GoogleGenAI } from '@google/genai';
import { explainMissingPackage } from '../../domain/errors/explainMissingPackage';
import { isLLMError, LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { Credential } from '../../domain/interfaces/CredentialSource';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { VendorName } from '../../domain/types/VendorTypes';
import type { GoogleClient, GoogleClientOptions } from './GoogleClient';
import { SdkRequests, withoutSdkEnvironment } from './SdkRequests';
import type { RequestBuilder, SdkRequest } from './SdkRequests';
import type {
  EmbeddingCall,
  EmbeddingReply,
  StoredResponseCall,
  VendorCall,
  VendorClient,
  VendorHttpResponse,
  VendorRelay,
} from './VendorClient';

export class InteractionsClient implements VendorClient {
  private readonly google: GoogleClient;
  private readonly sdk: SdkRequests;
  private readonly vendor: VendorName;

  /** @param google the client of the same account for everything but interactions */
  constructor(options: GoogleClientOptions, google: GoogleClient) {
    this.google = google;
    this.vendor = options.vendor;
    this.sdk = new SdkRequests({ ...options, load: () => loadSdk(options) });
  }

  async send(call: VendorCall): Promise<VendorHttpResponse> {
    const { body, headers = {}, stream } = call;
    const accept = { accept: stream ? 'text/event-stream' : 'application/json' };
    try {
      return await this.sdk.send({ method: 'post', path: PATH, body, headers: { ...accept, ...headers } }, call);
    } catch (error) {
      if (!isLLMError(error) || error.status !== 404 || error.vendorCode === 'model_not_found') throw error;
      if (body.previous_interaction_id === undefined) throw error;
      // It is the interaction that was not found.
      throw new LLMInvalidRequestError(error.message, error);
    }
  }

  readResponse(responseId: string, call: StoredResponseCall): Promise<VendorHttpResponse> {
    return this.sdk.send({ method: 'get', path: this.pathOf(responseId) }, call);
  }

  async cancelResponse(responseId: string, call: StoredResponseCall): Promise<void> {
    await (await this.sdk.send({ method: 'post', path: `${this.pathOf(responseId)}/cancel` }, call)).text();
  }

  /** An unknown id is not an error. */
  async deleteResponse(responseId: string, credential: Credential | undefined, signal?: AbortSignal): Promise<void> {
    try {
      const path = this.pathOf(responseId);
      await (await this.sdk.send({ method: 'delete', path }, { signal, credential })).text();
    } catch (error) {
      if (!isLLMError(error) || error.status !== 404) throw error;
    }
  }

  private pathOf(responseId: string): string {
    // A dot segment would address another path.
    if (/^\.{0,2}$/.test(responseId))
      throw new LLMInvalidRequestError('The id of the interaction is invalid.', { vendor: this.vendor });
    return `${PATH}/${encodeURIComponent(responseId)}`;
  }

  embed(call: EmbeddingCall): Promise<EmbeddingReply> {
    return this.google.embed(call);
  }

  relay(request: VendorRelay, credential: Credential | undefined): Promise<VendorHttpResponse> {
    return this.google.relay(request, credential);
  }

  probe(credential: Credential | undefined, signal?: AbortSignal): Promise<void> {
    return this.google.probe(credential, signal);
  }

  listModels(credential: Credential | undefined, signal?: AbortSignal): Promise<readonly string[]> {
    return this.google.listModels(credential, signal);
  }
}

const PATH = '/interactions';

async function loadSdk({
  vendor,
  baseURL,
  apiVersion = 'v1beta',
}: GoogleClientOptions): Promise<(credential: Credential | undefined) => RequestBuilder> {
  const { GoogleGenAI } = await importSdk(vendor);
  return (credential) => {
    let built: Request | undefined;
    const takeRequest = (request: Request | string | URL): Promise<Response> => {
      if (request instanceof Request) built = request;
      return Promise.resolve(Response.json({ id: '', status: 'completed', steps: [] }));
    };
    const sdk = new GoogleGenAI({
      // Without a key, the SDK looks for the operator's.
      apiKey: credential?.kind === 'api_key' ? credential.token : 'none',
      enterprise: false,
      apiVersion,
      httpOptions: omitUndefined({ baseUrl: baseURL, fetch: takeRequest }),
    });
    return {
      async buildRequest(request) {
        // The SDK reads variables when it is first asked, before its promise.
        const asked = withoutSdkEnvironment(() => ask(sdk, request));
        await asked;
        if (built === undefined) throw new Error('The SDK sent no request.');
        const { url } = built;
        const headers = withCredential(new Headers(built.headers), credential);
        for (const [name, value] of Object.entries(request.headers ?? {})) headers.set(name, value);
        return { url, req: { headers } };
      },
    };
  };
}

/** The SDK has no function that only builds a request, but a method for each. */
function ask({ interactions }: GoogleGenAI, { method, path, body }: SdkRequest): Promise<unknown> {
  const [id, verb] = path
    .slice(PATH.length + 1)
    .split('/')
    .map(decodeURIComponent);
  if (id === undefined || id === '') {
    const model = body !== undefined && 'model' in body ? String(body.model) : '';
    return interactions.create({ model, input: '', automatic_continuation: false });
  }
  if (verb === 'cancel') return interactions.cancel(id);
  return method === 'delete' ? interactions.delete(id) : interactions.get(id);
}

function withCredential(headers: Headers, credential: Credential | undefined): Headers {
  // The SDK's, which is empty.
  headers.delete('cookie');
  if (credential?.kind === 'api_key') return headers;
  headers.delete('x-goog-api-key');
  if (credential !== undefined) headers.set('authorization', `Bearer ${credential.token}`);
  return headers;
}

async function importSdk(vendor: VendorName): Promise<typeof import('@google/genai')> {
  try {
    return await import('@google/genai');
  } catch (error) {
    throw explainMissingPackage(error, '@google/genai', `The wire "interactions" of the vendor "${vendor}"`);
  }
}
