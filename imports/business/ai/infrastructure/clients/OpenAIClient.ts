/** Every API that speaks OpenAI's wires, through the official SDK: OpenAI, xAI, Azure and compatible ones. */
import type { AzureClientOptions, ClientOptions } from 'openai';
import { isLLMError, LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { Credential } from '../../domain/interfaces/CredentialSource';
import type { TransportLimits, VendorName } from '../../domain/types/VendorTypes';
import type { GuardedFetch } from './http/guardedFetch';
import { SdkRequests } from './SdkRequests';
import type { RequestBuilder, SdkOptions } from './SdkRequests';
import type { VendorCall, VendorClient, VendorHttpResponse } from './VendorClient';

export interface OpenAIClientOptions {
  readonly vendor: VendorName;
  readonly wire: 'responses' | 'chat_completions';
  /**
   * In the SDK's form, e.g. `https://api.x.ai/v1`. Default: OpenAI's own. For Azure the URL of the resource, its
   * `/openai` or its `/openai/v1`.
   */
  readonly baseURL?: string | undefined;
  readonly azure?: { readonly deployment?: string | undefined; readonly apiVersion?: string | undefined } | undefined;
  readonly fetch: GuardedFetch;
  readonly limits: TransportLimits;
}

const PATHS = { responses: '/responses', chat_completions: '/chat/completions' } as const;

export class OpenAIClient implements VendorClient {
  private readonly options: OpenAIClientOptions;
  private readonly sdk: SdkRequests;

  constructor(options: OpenAIClientOptions) {
    this.options = options;
    this.sdk = new SdkRequests({ ...options, load: () => loadSdk(options) });
  }

  send(call: VendorCall): Promise<VendorHttpResponse> {
    const { wire, azure } = this.options;
    const body = azure?.deployment === undefined ? call.body : { ...call.body, model: azure.deployment };
    const { headers } = call;
    return this.sdk.send(
      { method: 'post', path: PATHS[wire], body, ...(headers === undefined ? {} : { headers }) },
      call,
    );
  }

  async probe(credential: Credential | undefined, signal?: AbortSignal): Promise<void> {
    const response = await this.sdk.send({ method: 'get', path: '/models' }, { signal, credential });
    await response.text();
  }

  /** An unknown id is not an error. */
  async deleteResponse(responseId: string, credential: Credential | undefined, signal?: AbortSignal): Promise<void> {
    // A dot segment would address another path.
    if (/^\.{0,2}$/.test(responseId))
      throw new LLMInvalidRequestError('The response id is invalid.', { vendor: this.options.vendor });
    try {
      const response = await this.sdk.send(
        { method: 'delete', path: `/responses/${encodeURIComponent(responseId)}` },
        { signal, credential },
      );
      await response.text();
    } catch (error) {
      if (!isLLMError(error) || error.status !== 404) throw error;
    }
  }
}

async function loadSdk({
  azure,
  baseURL,
}: OpenAIClientOptions): Promise<(credential: Credential | undefined, options: SdkOptions) => RequestBuilder> {
  const { AzureOpenAI, OpenAI } = await import('openai');
  if (azure === undefined)
    return (credential, options) => new OpenAI({ ...options, ...NO_AMBIENT_ACCOUNT, baseURL, ...bearer(credential) });
  const { apiVersion, deployment } = azure;
  const azureURL = resolveAzureURL(baseURL, apiVersion);
  if (azureURL.deployments) {
    return (credential, options) =>
      new AzureOpenAI({
        ...options,
        ...NO_AMBIENT_ACCOUNT,
        apiVersion,
        deployment,
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
 * OpenAI's own (`/openai/v1`, `/models`). The URL of a bare resource means the first kind if there is an api-version,
 * else the second. https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle
 */
function resolveAzureURL(
  given: string | undefined,
  apiVersion: string | undefined,
): { readonly baseURL: string; readonly deployments: boolean } {
  if (given === undefined || !URL.canParse(given))
    throw new LLMInvalidRequestError('An Azure OpenAI provider needs the URL of its resource.', {
      vendor: 'azure_openai',
    });
  const baseURL = given.replace(/\/+$/, '');
  const { pathname } = new URL(baseURL);
  if (pathname === '/')
    return apiVersion === undefined
      ? { baseURL: `${baseURL}/openai/v1`, deployments: false }
      : { baseURL: `${baseURL}/openai`, deployments: true };
  if (pathname === '/openai' && apiVersion === undefined) return { baseURL: `${baseURL}/v1`, deployments: false };
  return { baseURL, deployments: pathname === '/openai' || pathname.includes('/deployments/') };
}
