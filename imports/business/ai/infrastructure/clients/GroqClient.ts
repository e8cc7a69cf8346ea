/** Groq's Chat Completions through its official SDK. */
import { explainMissingPackage } from '../../domain/errors/explainMissingPackage';
import type { Credential } from '../../domain/interfaces/CredentialSource';
import type { VendorBatchApi } from '../../domain/interfaces/VendorBatches';
import type { TransportLimits, VendorName } from '../../domain/types/VendorTypes';
import { OpenAIBatches } from './batches/OpenAIBatches';
import type { SendBatchRequest } from './batches/batchRequests';
import type { GuardedFetch } from './http/guardedFetch';
import { requestOpenAIEmbeddings } from './openAIEmbeddings';
import { readModelList } from './readModelList';
import { SdkRequests } from './SdkRequests';
import type { RequestBuilder, SdkOptions } from './SdkRequests';
import type {
  EmbeddingCall,
  EmbeddingReply,
  VendorCall,
  VendorClient,
  VendorHttpResponse,
  VendorRelay,
} from './VendorClient';

export interface GroqClientOptions {
  readonly vendor: VendorName;
  /** In the SDK's form, without `/openai/v1`. Default: Groq's own. */
  readonly baseURL?: string | undefined;
  readonly fetch: GuardedFetch;
  readonly limits: TransportLimits;
}

export class GroqClient implements VendorClient {
  private readonly vendor: VendorName;
  private readonly sdk: SdkRequests;

  constructor(options: GroqClientOptions) {
    this.vendor = options.vendor;
    this.sdk = new SdkRequests({ ...options, load: () => loadSdk(options) });
  }

  send(call: VendorCall): Promise<VendorHttpResponse> {
    const { body, headers } = call;
    return this.sdk.send({ method: 'post', path: '/openai/v1/chat/completions', body, headers }, call);
  }

  async embed(call: EmbeddingCall): Promise<EmbeddingReply> {
    return requestOpenAIEmbeddings(this.vendor, call, (body) =>
      this.sdk.send({ method: 'post', path: '/openai/v1/embeddings', body }, call),
    );
  }

  relay(request: VendorRelay, credential: Credential | undefined): Promise<VendorHttpResponse> {
    return this.sdk.relay({ ...request, path: `/openai/v1${request.path}` }, credential);
  }

  /** https://console.groq.com/docs/batch: files of up to 100 MB. */
  batches(send: SendBatchRequest): VendorBatchApi {
    const limits = { requests: 50_000, bytes: 100_000_000 };
    return new OpenAIBatches({ vendor: this.vendor, endpoint: '/v1/chat/completions', limits, send });
  }

  async probe(credential: Credential | undefined, signal?: AbortSignal): Promise<void> {
    await this.fetchModels(credential, signal);
  }

  async listModels(credential: Credential | undefined, signal?: AbortSignal): Promise<readonly string[]> {
    return readModelList(await this.fetchModels(credential, signal));
  }

  private async fetchModels(credential: Credential | undefined, signal: AbortSignal | undefined): Promise<string> {
    const response = await this.sdk.send({ method: 'get', path: '/openai/v1/models' }, { signal, credential });
    return response.text();
  }
}

async function loadSdk({
  vendor,
  baseURL,
}: GroqClientOptions): Promise<(credential: Credential | undefined, options: SdkOptions) => RequestBuilder> {
  const { Groq } = await importSdk(vendor);
  return (credential, options) => new Groq({ ...options, baseURL, ...authentication(credential) });
}

async function importSdk(vendor: VendorName): Promise<typeof import('groq-sdk')> {
  try {
    return await import('groq-sdk');
  } catch (error) {
    throw explainMissingPackage(error, 'groq-sdk', `The vendor "${vendor}"`);
  }
}

/** The SDK requires a key. APIs without authentication get no header. */
function authentication(credential: Credential | undefined): { apiKey: string; defaultHeaders?: Record<string, null> } {
  return credential === undefined
    ? { apiKey: 'none', defaultHeaders: { authorization: null } }
    : { apiKey: credential.token };
}
