/** Every API that speaks OpenAI's wires, through the official SDK: OpenAI, xAI, Azure and compatible ones. */
import type { AzureClientOptions, ClientOptions } from 'openai';
import { explainMissingPackage } from '../../domain/errors/explainMissingPackage';
import { isLLMError, LLMInvalidRequestError, LLMModelNotFoundError } from '../../domain/errors/LLMErrors';
import type { LLMError } from '../../domain/errors/LLMErrors';
import type { Credential } from '../../domain/interfaces/CredentialSource';
import type { VendorBatchApi, VendorBatchLimits } from '../../domain/interfaces/VendorBatches';
import type { TransportLimits, VendorName } from '../../domain/types/VendorTypes';
import { OpenAIBatches } from './batches/OpenAIBatches';
import type { SendBatchRequest } from './batches/batchRequests';
import type { GuardedFetch } from './http/guardedFetch';
import { isPathMissing } from './isPathMissing';
import { requestOpenAIEmbeddings } from './openAIEmbeddings';
import { readModelList } from './readModelList';
import { pickFields, readTokenCount } from './readTokenCount';
import { SdkRequests } from './SdkRequests';
import type { RequestBuilder, SdkOptions } from './SdkRequests';
import type {
  EmbeddingCall,
  EmbeddingReply,
  StoredResponseCall,
  VendorCall,
  VendorClient,
  VendorHttpResponse,
  VendorRelay,
} from './VendorClient';
import { parseUrl } from '../../domain/util/parseUrl';

export interface OpenAIClientOptions {
  readonly vendor: VendorName;
  readonly wire: 'responses' | 'chat_completions';
  /**
   * In the SDK's form, e.g. `https://api.x.ai/v1`. Default: OpenAI's own. For Azure the URL of the resource, its
   * `/openai` or its `/openai/v1`.
   */
  readonly baseURL?: string | undefined;
  /** The environment variable for the wire, to name in errors of hosts that lack this one. */
  readonly wireVariable?: string | undefined;
  readonly azure?: { readonly deployment?: string | undefined; readonly apiVersion?: string | undefined } | undefined;
  readonly fetch: GuardedFetch;
  readonly limits: TransportLimits;
}

const PATHS = { responses: '/responses', chat_completions: '/chat/completions' } as const;

const COMPACTION_PATH = '/responses/compact';

/** The hosts that process batches, in files of up to 200 MB. Others may serve the path and answer nothing. */
const BATCH_LIMITS: { readonly [V in VendorName]?: VendorBatchLimits } = {
  openai: { requests: 50_000, bytes: 200_000_000 },
  azure_openai: { requests: 100_000, bytes: 200_000_000 },
};

const COUNTED_FIELDS = [
  'model',
  'input',
  'instructions',
  'conversation',
  'previous_response_id',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'reasoning',
  'text',
  'truncation',
];

export class OpenAIClient implements VendorClient {
  private readonly options: OpenAIClientOptions;
  private readonly sdk: SdkRequests;

  constructor(options: OpenAIClientOptions) {
    this.options = options;
    this.sdk = new SdkRequests({ ...options, load: () => loadSdk(options) });
  }

  send(call: VendorCall): Promise<VendorHttpResponse> {
    const { wire, azure, wireVariable } = this.options;
    const body = azure?.deployment === undefined ? call.body : { ...call.body, model: azure.deployment };
    const { headers, compact } = call;
    const path = compact === true ? COMPACTION_PATH : PATHS[wire];
    const sending = this.sdk.send({ method: 'post', path, body, headers }, call);
    if (wireVariable === undefined) return sending;
    return sending.catch((error: unknown) => {
      throw isLLMError(error) && isPathMissing(error) ? this.withWireHint(error, wireVariable) : error;
    });
  }

  private withWireHint(error: LLMError, wireVariable: string): LLMError {
    const { wire } = this.options;
    const other = wire === 'responses' ? 'chat_completions' : 'responses';
    return new LLMModelNotFoundError(
      `${error.message.replace(/[.\s]*$/, '.')} The host has no "${PATHS[wire]}" at its base URL. Check the URL, or, if ` +
        `it serves "${PATHS[other]}" only, set ${wireVariable}=${other} (the option "wire" of a provider's settings).`,
      error,
    );
  }

  /**
   * Only OpenAI itself counts, for requests of its Responses API.
   * https://platform.openai.com/docs/api-reference/responses/input-tokens
   */
  async countTokens(call: VendorCall): Promise<number | undefined> {
    const { vendor, wire } = this.options;
    if (vendor !== 'openai' || wire !== 'responses') return undefined;
    const body = pickFields(call.body, COUNTED_FIELDS);
    const response = await this.sdk.send({ method: 'post', path: '/responses/input_tokens', body }, call);
    return readTokenCount(response, 'input_tokens');
  }

  async embed(call: EmbeddingCall): Promise<EmbeddingReply> {
    return requestOpenAIEmbeddings(this.options.vendor, call, (body) =>
      this.sdk.send({ method: 'post', path: '/embeddings', body }, call),
    );
  }

  relay(request: VendorRelay, credential: Credential | undefined): Promise<VendorHttpResponse> {
    return this.sdk.relay(request, credential);
  }

  batches(send: SendBatchRequest): VendorBatchApi | undefined {
    const { vendor, wire, azure } = this.options;
    const limits = BATCH_LIMITS[vendor];
    if (limits === undefined) return undefined;
    const endpoint = `/v1${PATHS[wire]}` as const;
    return new OpenAIBatches({ vendor, endpoint, limits, send, deployment: azure?.deployment });
  }

  async probe(credential: Credential | undefined, signal?: AbortSignal): Promise<void> {
    await this.fetchModels(credential, signal);
  }

  async listModels(credential: Credential | undefined, signal?: AbortSignal): Promise<readonly string[]> {
    return readModelList(await this.fetchModels(credential, signal));
  }

  private async fetchModels(credential: Credential | undefined, signal: AbortSignal | undefined): Promise<string> {
    const response = await this.sdk.send({ method: 'get', path: '/models' }, { signal, credential });
    return response.text();
  }

  readResponse(responseId: string, call: StoredResponseCall): Promise<VendorHttpResponse> {
    return this.sdk.send({ method: 'get', path: this.responsePath(responseId) }, call);
  }

  resumeStream(responseId: string, startingAfter: number, call: StoredResponseCall): Promise<VendorHttpResponse> {
    return this.sdk.send(
      {
        method: 'get',
        path: this.responsePath(responseId),
        query: { stream: true, starting_after: startingAfter },
        headers: { accept: 'text/event-stream' },
      },
      call,
    );
  }

  async cancelResponse(responseId: string, call: StoredResponseCall): Promise<void> {
    await (await this.sdk.send({ method: 'post', path: `${this.responsePath(responseId)}/cancel` }, call)).text();
  }

  private responsePath(responseId: string): string {
    // A dot segment would address another path.
    if (/^\.{0,2}$/.test(responseId))
      throw new LLMInvalidRequestError('The response id is invalid.', { vendor: this.options.vendor });
    return `/responses/${encodeURIComponent(responseId)}`;
  }

  /** An unknown id is not an error. */
  async deleteResponse(responseId: string, credential: Credential | undefined, signal?: AbortSignal): Promise<void> {
    try {
      const path = this.responsePath(responseId);
      const response = await this.sdk.send({ method: 'delete', path }, { signal, credential });
      await response.text();
    } catch (error) {
      if (!isLLMError(error) || error.status !== 404) throw error;
    }
  }
}

async function importSdk(vendor: VendorName): Promise<typeof import('openai')> {
  try {
    return await import('openai');
  } catch (error) {
    throw explainMissingPackage(error, 'openai', `The vendor "${vendor}"`);
  }
}

async function loadSdk({
  vendor,
  azure,
  baseURL,
}: OpenAIClientOptions): Promise<(credential: Credential | undefined, options: SdkOptions) => RequestBuilder> {
  const { AzureOpenAI, OpenAI } = await importSdk(vendor);
  if (azure === undefined)
    return (credential, options) => new OpenAI({ ...options, ...NO_AMBIENT_ACCOUNT, baseURL, ...bearer(credential) });
  const { apiVersion } = azure;
  const azureURL = resolveAzureURL(baseURL, apiVersion);
  if (azureURL.deployments) {
    return (credential, options) =>
      new AzureOpenAI({
        ...options,
        ...NO_AMBIENT_ACCOUNT,
        apiVersion,
        baseURL: azureURL.baseURL,
        ...azureCredential(credential),
      });
  }
  const query = apiVersion === undefined ? {} : { defaultQuery: { 'api-version': apiVersion } };
  return (credential, options) =>
    new OpenAI({ ...options, ...NO_AMBIENT_ACCOUNT, ...query, baseURL: azureURL.baseURL, ...apiKeyHeader(credential) });
}

/** Explicit nulls prevent the SDK from reading the operator's settings. */
const NO_AMBIENT_ACCOUNT = { organization: null, project: null, adminAPIKey: null, webhookSecret: null } as const;

/** The SDK requires a key. APIs without authentication get no header. */
function bearer(credential: Credential | undefined): Pick<ClientOptions, 'apiKey' | 'defaultHeaders'> {
  return credential === undefined
    ? { apiKey: 'none', defaultHeaders: { authorization: null } }
    : { apiKey: credential.token };
}

/** Azure takes keys in a header of its own, and Entra tokens as bearer tokens. */
function apiKeyHeader(credential: Credential | undefined): Pick<ClientOptions, 'apiKey' | 'defaultHeaders'> {
  if (credential?.kind !== 'api_key') return bearer(credential);
  return { apiKey: credential.token, defaultHeaders: { 'api-key': credential.token, authorization: null } };
}

function azureCredential(
  credential: Credential | undefined,
): Pick<AzureClientOptions, 'apiKey' | 'azureADTokenProvider' | 'defaultHeaders'> {
  if (credential?.kind === 'bearer') return { azureADTokenProvider: () => Promise.resolve(credential.token) };
  return credential === undefined
    ? { apiKey: 'none', defaultHeaders: { 'api-key': null } }
    : { apiKey: credential.token };
}

/**
 * Azure has two kinds of paths: `/openai`, where the SDK puts deployment and api-version into the URL, and paths like
 * OpenAI's own (`/openai/v1`, `/models`). Dated api-versions mean the first kind unless the URL has a path of the
 * second. https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle
 */
function resolveAzureURL(
  given: string | undefined,
  apiVersion: string | undefined,
): { readonly baseURL: string; readonly deployments: boolean } {
  if (given === undefined || parseUrl(given) === undefined)
    throw new LLMInvalidRequestError('An Azure OpenAI provider needs the URL of its resource.', {
      vendor: 'azure_openai',
    });
  const baseURL = given.replace(/\/+$/, '');
  const { pathname } = new URL(baseURL);
  if (apiVersion !== undefined && /^\d/.test(apiVersion) && !/\/(?:v1|models)$/.test(pathname))
    return { baseURL: pathname === '/' ? `${baseURL}/openai` : baseURL, deployments: true };
  if (pathname === '/') return { baseURL: `${baseURL}/openai/v1`, deployments: false };
  return { baseURL: pathname.endsWith('/openai') ? `${baseURL}/v1` : baseURL, deployments: false };
}
