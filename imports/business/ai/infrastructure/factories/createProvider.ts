/** One provider without any Provider system: for scripts, tests, benchmarks and the terminal. */
import { normalizeOptions } from '../../application/services/ContentNormalizer';
import type { CredentialSource } from '../../domain/interfaces/CredentialSource';
import type { ILLMProvider } from '../../domain/interfaces/ILLMProvider';
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import { DEFAULT_TRANSPORT_LIMITS, VENDORS } from '../../domain/types/VendorTypes';
import type { TransportLimits, VendorName, VendorQuirks, WireName } from '../../domain/types/VendorTypes';
import { createGuardedFetch } from '../clients/http/guardedFetch';
import type { Wire } from '../converters/Wire';
import type { Lane } from '../providers/BaseLLMProvider';
import type { ModelRow } from '../vendors/capabilities';
import { DEFAULT_QUIRKS, QUIRKS } from '../vendors/vendorQuirks';
import { anthropicWire } from '../converters/anthropic/anthropicWire';
import { chatCompletionsWire } from '../converters/chat/chatCompletionsWire';
import { googleWire } from '../converters/google/googleWire';
import { responsesWire } from '../converters/responses/responsesWire';
import { PROVIDER_CLASSES } from './providerClasses';

export interface CreateProviderRow {
  readonly vendor: VendorName;
  /** Default: the vendor's name. */
  readonly id?: string;
  readonly apiKey?: string;
  /** As the vendor's official SDK takes it. */
  readonly baseURL?: string;
  readonly defaultModel?: string;
  /** Where the vendor has more than one. */
  readonly wire?: WireName;
  readonly deployment?: string;
  readonly apiVersion?: string;
  readonly quirks?: Partial<VendorQuirks>;
  readonly limits?: Partial<TransportLimits>;
  readonly models?: readonly ModelRow[];
  /** Permits plain http and private addresses in `baseURL`: for operators' own settings, never for a user's. */
  readonly allowPrivateHosts?: boolean;
  /** The same for the URLs of images and files that callers send: for development only. */
  readonly allowPrivateMedia?: boolean;
  /** Instead of `apiKey`. */
  readonly credentials?: CredentialSource;
}

const WIRES: Readonly<Record<WireName, Wire>> = {
  responses: responsesWire,
  chat_completions: chatCompletionsWire,
  anthropic_messages: anthropicWire,
  gemini: googleWire,
};

/** @throws LLMInvalidRequestError for a row that names no vendor, or a wire that its vendor does not speak */
export function createProvider(row: CreateProviderRow): ILLMProvider {
  if (!VENDORS.includes(row.vendor))
    throw new LLMInvalidRequestError(`'${row.vendor}' is none of the vendors: ${VENDORS.join(', ')}`, {
      path: 'vendor',
    });
  const ProviderClass = PROVIDER_CLASSES[row.vendor];
  const { wires, speaksAll, createClient, defaultModel: usualModel } = ProviderClass.facts;
  const wire = row.wire ?? wires[0];
  if (!wires.includes(wire))
    throw new LLMInvalidRequestError(`${row.vendor} speaks ${wires.join(', ')}, not ${wire}`, { path: 'wire' });
  const { vendor, baseURL, deployment, apiVersion } = row;
  const limits = { ...DEFAULT_TRANSPORT_LIMITS, ...row.limits };
  const fetch = createGuardedFetch({ limits, allowPrivateHosts: row.allowPrivateHosts ?? false });
  const defaultModel = row.defaultModel ?? deployment ?? usualModel;
  const lane = (name: WireName): Lane => ({
    client: createClient({ vendor, wire: name, baseURL, deployment, apiVersion, fetch, limits }),
    wire: WIRES[name],
  });
  // A row that names a wire means that one alone.
  const others = speaksAll === true && row.wire === undefined ? wires.slice(1) : [];
  return new ProviderClass(
    {
      id: row.id ?? vendor,
      vendor,
      wire,
      ...(defaultModel === undefined ? {} : { defaultModel }),
      quirks: { ...DEFAULT_QUIRKS, ...QUIRKS[isOwnLlamaHost(row) ? 'openai_compatible' : vendor], ...row.quirks },
      limits,
      allowPrivateMedia: row.allowPrivateMedia ?? false,
      ...(row.models === undefined ? {} : { models: row.models }),
    },
    {
      ...lane(wire),
      ...(others.length === 0 ? {} : { others: others.map(lane) }),
      credentials: row.credentials ?? keyOf(row.apiKey),
      normalize: normalizeOptions,
    },
  );
}

/** Groq's quirks are not those of other Llama hosts. */
function isOwnLlamaHost(row: CreateProviderRow): boolean {
  return row.vendor === 'llama' && row.baseURL !== undefined;
}

function keyOf(apiKey: string | undefined): CredentialSource {
  const credential = apiKey === undefined ? undefined : ({ kind: 'api_key', token: apiKey } as const);
  return { getAccessToken: () => Promise.resolve(credential) };
}
