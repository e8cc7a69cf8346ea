/** Creates one provider without any module around it: for scripts, tests, benchmarks and the terminal. */
import { normalizeOptionsInTurns } from '../../application/services/ContentNormalizer';
import { TextToolProvider } from '../../application/services/routing/TextToolProvider';
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { CredentialSource } from '../../domain/interfaces/CredentialSource';
import type { ILLMProvider } from '../../domain/interfaces/ILLMProvider';
import { omitUndefined } from '../../domain/util/omitUndefined';
import { DEFAULT_TRANSPORT_LIMITS, VENDORS } from '../../domain/types/VendorTypes';
import type { TransportLimits, VendorName, VendorQuirks, WireName } from '../../domain/types/VendorTypes';
import { createGuardedFetch } from '../clients/http/guardedFetch';
import type { PrivateHosts } from '../clients/http/privateHosts';
import type { Wire } from '../converters/Wire';
import { anthropicWire } from '../converters/anthropic/anthropicWire';
import { chatCompletionsWire } from '../converters/chat/chatCompletionsWire';
import { googleWire } from '../converters/google/googleWire';
import { interactionsWire } from '../converters/interactions/interactionsWire';
import { responsesWire } from '../converters/responses/responsesWire';
import type { WireTransport } from '../providers/prepareCall';
import { DEFAULT_QUIRKS } from '../vendors/defaultQuirks';
import { quirksAtHost } from '../vendors/quirksAtHost';
import type { ModelRow } from '../vendors/ModelRow';
import type { Vendor } from '../vendors/Vendor';
import { VENDOR_ROWS } from '../vendors/vendors';
import { providerClassOf } from './providerClasses';

export interface CreateProviderOptions {
  readonly vendor: VendorName;
  /** Default: the vendor's name. */
  readonly id?: string;
  readonly apiKey?: string;
  /** In the form that the vendor's official SDK takes. Default: the vendor's own. */
  readonly baseURL?: string;
  /** Default: the deployment, else the vendor's default model. */
  readonly defaultModel?: string;
  /**
   * The only wire to use. Default: the first that the vendor serves, and its others for calls that ask for one. Azure
   * serves Responses from the API version 2025-03-01-preview on; before, only Chat Completions.
   */
  readonly wire?: WireName;
  /** Azure's name for a deployed model. */
  readonly deployment?: string;
  readonly apiVersion?: string;
  readonly quirks?: Partial<VendorQuirks>;
  readonly limits?: Partial<TransportLimits>;
  /** Models that the vendor's table lacks or describes differently. */
  readonly models?: readonly ModelRow[];
  /**
   * Permits plain http and private addresses in `baseURL`: all, or those of a list of host names, IP addresses and
   * networks. `true` is for operators' settings, never for a user's.
   */
  readonly allowPrivateHosts?: PrivateHosts;
  /** The same for the URLs of images and files that callers send. For development only. */
  readonly allowPrivateMedia?: boolean;
  /** Replaces `apiKey`. */
  readonly credentials?: CredentialSource;
  /**
   * For models without native tool calling: the prompt describes the tools, and the model calls one by answering with
   * `{ "tool": "name", "input": { … } }`.
   */
  readonly toolsInText?: boolean;
}

const WIRES: Readonly<Record<WireName, Wire>> = {
  responses: responsesWire,
  chat_completions: chatCompletionsWire,
  anthropic_messages: anthropicWire,
  gemini: googleWire,
  interactions: interactionsWire,
};

/** @throws LLMInvalidRequestError for an unknown vendor, a wire that it doesn't serve, or a missing base URL */
export function createProvider(options: CreateProviderOptions): ILLMProvider {
  const vendor = vendorOf(options);
  const wire = wireOf(vendor, options);
  const ProviderClass = providerClassOf(vendor);
  const { deployment, apiVersion, baseURL = vendor.baseURL } = options;
  const limits = { ...DEFAULT_TRANSPORT_LIMITS, ...options.limits };
  const fetch = createGuardedFetch({ limits, allowPrivateHosts: options.allowPrivateHosts ?? false });
  const defaultModel = options.defaultModel ?? deployment ?? vendor.defaultModel;
  const wireVariable = vendor.variables?.wire;
  const transport = (name: WireName): WireTransport => ({
    client: ProviderClass.createClient({
      vendor: vendor.name,
      wire: name,
      baseURL,
      deployment,
      apiVersion,
      ...(options.baseURL === undefined || wireVariable === undefined ? {} : { wireVariable }),
      fetch,
      limits,
    }),
    wire: WIRES[name],
  });
  // Settings that name a wire mean that one alone.
  const otherWires =
    vendor.servesAllWires === true && options.wire === undefined ? wiresAt(vendor, options).slice(1) : [];
  const provider = new ProviderClass(
    {
      id: options.id ?? vendor.name,
      vendor: vendor.name,
      wire,
      quirks: quirksOf(vendor, options),
      limits,
      allowPrivateMedia: options.allowPrivateMedia ?? false,
      ...omitUndefined({ defaultModel, models: options.models, region: vendor.regionalURLs?.exec(baseURL ?? '')?.[1] }),
    },
    {
      ...transport(wire),
      ...(otherWires.length === 0 ? {} : { otherTransports: otherWires.map(transport) }),
      credentials: options.credentials ?? staticKey(options.apiKey),
      normalize: normalizeOptionsInTurns,
    },
  );
  return options.toolsInText === true ? new TextToolProvider(provider) : provider;
}

function vendorOf({ vendor }: CreateProviderOptions): Vendor {
  if (VENDORS.includes(vendor)) return VENDOR_ROWS[vendor];
  throw new LLMInvalidRequestError(`Unknown vendor "${vendor}". Expected one of: ${VENDORS.join(', ')}.`, {
    path: 'vendor',
  });
}

function wiresAt(vendor: Vendor, { baseURL, apiVersion }: CreateProviderOptions): Vendor['wires'] {
  return vendor.wiresAt?.({ baseURL, apiVersion }) ?? vendor.wires;
}

function wireOf(vendor: Vendor, options: CreateProviderOptions): WireName {
  const { label, wires } = vendor;
  const { wire = wiresAt(vendor, options)[0] } = options;
  if (wires.includes(wire)) return wire;
  throw new LLMInvalidRequestError(
    `${label} does not serve the wire "${wire}". Expected one of: ${wires.join(', ')}.`,
    {
      path: 'wire',
    },
  );
}

function quirksOf(vendor: Vendor, { baseURL, quirks }: CreateProviderOptions): VendorQuirks {
  const vendorQuirks = baseURL === undefined ? vendor.quirks : (vendor.quirksAtOtherBaseURLs ?? vendor.quirks);
  return { ...DEFAULT_QUIRKS, ...vendorQuirks, ...quirksAtHost(vendor, baseURL), ...quirks };
}

function staticKey(apiKey: string | undefined): CredentialSource {
  const credential = apiKey === undefined ? undefined : ({ kind: 'api_key', token: apiKey } as const);
  return { getAccessToken: () => Promise.resolve(credential) };
}
