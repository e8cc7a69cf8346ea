/** Anthropic's Messages wire through the official SDK. */
import { explainMissingPackage } from '../../domain/errors/explainMissingPackage';
import type { Credential } from '../../domain/interfaces/CredentialSource';
import type { VendorBatchApi } from '../../domain/interfaces/VendorBatches';
import type { TransportLimits, VendorName } from '../../domain/types/VendorTypes';
import { AnthropicBatches } from './batches/AnthropicBatches';
import type { SendBatchRequest } from './batches/batchRequests';
import type { GuardedFetch } from './http/guardedFetch';
import { readModelList } from './readModelList';
import { pickFields, readTokenCount } from './readTokenCount';
import { SdkRequests } from './SdkRequests';
import type { RequestBuilder, SdkOptions } from './SdkRequests';
import type { VendorCall, VendorClient, VendorHttpResponse, VendorRelay } from './VendorClient';

export interface AnthropicClientOptions {
  readonly vendor: VendorName;
  /** In the SDK's form. Default: Anthropic's own. */
  readonly baseURL?: string | undefined;
  readonly fetch: GuardedFetch;
  readonly limits: TransportLimits;
}

/**
 * The version that requests are written for. Later ones reject sampling parameters, and the SDK would send the latest
 * that it supports. https://platform.claude.com/docs/en/api/versioning
 */
const VERSION = { 'anthropic-version': '2023-06-01' };

/** The fields that the token count accepts, in the stable API and its beta features. */
const COUNTED_FIELDS = [
  'model',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'cache_control',
  'context_management',
  'compaction',
  'mcp_servers',
  'speed',
];

export class AnthropicClient implements VendorClient {
  private readonly sdk: SdkRequests;

  constructor(options: AnthropicClientOptions) {
    this.sdk = new SdkRequests({ ...options, load: () => loadSdk(options) });
  }

  send(call: VendorCall): Promise<VendorHttpResponse> {
    const { body } = call;
    const headers = call.headers === undefined ? VERSION : { ...VERSION, ...call.headers };
    return this.sdk.send({ method: 'post', path: '/v1/messages', body, headers }, call);
  }

  /** https://platform.claude.com/docs/en/api/messages-count-tokens */
  async countTokens(call: VendorCall): Promise<number> {
    const body = pickFields(call.body, COUNTED_FIELDS);
    const headers = { ...VERSION, ...call.headers };
    const response = await this.sdk.send({ method: 'post', path: '/v1/messages/count_tokens', body, headers }, call);
    return readTokenCount(response, 'input_tokens');
  }

  relay(request: VendorRelay, credential: Credential | undefined): Promise<VendorHttpResponse> {
    return this.sdk.relay(
      { ...request, path: `/v1${request.path}`, headers: { ...VERSION, ...request.headers } },
      credential,
    );
  }

  batches(send: SendBatchRequest): VendorBatchApi {
    return new AnthropicBatches(send);
  }

  async probe(credential: Credential | undefined, signal?: AbortSignal): Promise<void> {
    await this.fetchModels(1, credential, signal);
  }

  /** One page holds up to 1,000. https://platform.claude.com/docs/en/api/models-list */
  async listModels(credential: Credential | undefined, signal?: AbortSignal): Promise<readonly string[]> {
    return readModelList(await this.fetchModels(1_000, credential, signal));
  }

  private async fetchModels(
    limit: number,
    credential: Credential | undefined,
    signal: AbortSignal | undefined,
  ): Promise<string> {
    const response = await this.sdk.send(
      { method: 'get', path: '/v1/models', query: { limit }, headers: VERSION },
      { signal, credential },
    );
    return response.text();
  }
}

async function loadSdk({
  vendor,
  baseURL,
}: AnthropicClientOptions): Promise<(credential: Credential | undefined, options: SdkOptions) => RequestBuilder> {
  const { Anthropic } = await importSdk(vendor);
  return (credential, options) =>
    new Anthropic({ ...options, baseURL, webhookKey: null, openTelemetry: false, ...authentication(credential) });
}

async function importSdk(vendor: VendorName): Promise<typeof import('@anthropic-ai/sdk')> {
  try {
    return await import('@anthropic-ai/sdk');
  } catch (error) {
    throw explainMissingPackage(error, '@anthropic-ai/sdk', `The vendor "${vendor}"`);
  }
}

/**
 * Sends keys in the header that this API version defines; the SDK would send them as bearer tokens. Without a
 * credential, placeholders prevent the SDK from looking for the operator's in files and variables.
 */
function authentication(
  credential: Credential | undefined,
): { apiKey: string; defaultHeaders: Record<string, string | null> } | { authToken: string } {
  if (credential === undefined) return { apiKey: 'none', defaultHeaders: { authorization: null, 'x-api-key': null } };
  if (credential.kind === 'bearer') return { authToken: credential.token };
  return { apiKey: credential.token, defaultHeaders: { authorization: null, 'x-api-key': credential.token } };
}
