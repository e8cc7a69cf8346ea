/** Anthropic's Messages wire through the official SDK. */
import type { Credential } from '../../domain/interfaces/CredentialSource';
import type { TransportLimits, VendorName } from '../../domain/types/VendorTypes';
import type { GuardedFetch } from './http/guardedFetch';
import { SdkRequests } from './SdkRequests';
import type { RequestBuilder, SdkOptions } from './SdkRequests';
import type { VendorCall, VendorClient, VendorReply } from './VendorClient';

export interface AnthropicClientOptions {
  readonly vendor: VendorName;
  /** As the SDK takes it; Anthropic's own when absent. */
  readonly baseURL?: string | undefined;
  readonly fetch: GuardedFetch;
  readonly limits: TransportLimits;
}

/**
 * What our requests are written in. Later versions refuse sampling parameters, and the SDK would name the latest
 * that it knows. https://platform.claude.com/docs/en/api/versioning
 */
const VERSION = { 'anthropic-version': '2023-06-01' };

export class AnthropicClient implements VendorClient {
  private readonly sdk: SdkRequests;

  constructor(options: AnthropicClientOptions) {
    this.sdk = new SdkRequests({ ...options, load: () => loadSdk(options) });
  }

  send(call: VendorCall): Promise<VendorReply> {
    const { body, headers } = call;
    return this.sdk.send({ method: 'post', path: '/v1/messages', body, headers: { ...VERSION, ...headers } }, call);
  }

  async probe(credential: Credential | undefined, signal?: AbortSignal): Promise<void> {
    const reply = await this.sdk.send(
      { method: 'get', path: '/v1/models', query: { limit: 1 }, headers: VERSION },
      { signal, credential },
    );
    await reply.text();
  }
}

async function loadSdk({
  baseURL,
}: AnthropicClientOptions): Promise<(credential: Credential | undefined, options: SdkOptions) => RequestBuilder> {
  const { Anthropic } = await import('@anthropic-ai/sdk');
  return (credential, options) =>
    new Anthropic({ ...options, baseURL, webhookKey: null, openTelemetry: false, ...authentication(credential) });
}

/**
 * Keys go where that version has them: the SDK would send them like tokens. With no credential at all it would look
 * for the operator's own in files and variables.
 */
function authentication(
  credential: Credential | undefined,
): { apiKey: string; defaultHeaders: Record<string, string | null> } | { authToken: string } {
  if (credential === undefined) return { apiKey: 'none', defaultHeaders: { authorization: null, 'x-api-key': null } };
  if (credential.kind === 'bearer') return { authToken: credential.token };
  return { apiKey: credential.token, defaultHeaders: { authorization: null, 'x-api-key': credential.token } };
}
