/** What a provider makes of the options of a call before it sends it. */
import { UnsupportedFeatureError } from '../../domain/errors/LLMErrors';
import { scaledPrice } from '../../domain/entities/scaledPrice';
import { inTurns } from '../../domain/util/slices';
import type { CredentialSource } from '../../domain/interfaces/CredentialSource';
import type { ModelCapabilities } from '../../domain/interfaces/ILLMProvider';
import type { GenerateOptions, NormalizedOptions } from '../../domain/types/LLMTypes';
import type { InputFile, InputImage } from '../../domain/types/ResponsesAPITypes';
import type { TransportLimits, VendorName, VendorQuirks, WireName } from '../../domain/types/VendorTypes';
import type { StoredResponseCall, VendorCall, VendorClient, VendorHttpResponse } from '../clients/VendorClient';
import type { ResponseContext, Wire, WireContext, WireRequest } from '../converters/Wire';
import { mergeAdditionalTools } from '../converters/shared/additionalTools';
import { offerCustomToolsAsFunctions } from '../converters/shared/customTools';
import { offerFoundTools } from '../converters/shared/foundTools';
import { offerNativeTools } from '../converters/shared/nativeTools';
import { rewriteTools } from '../converters/shared/RewrittenTools';
import { keepFirstCall } from '../converters/shared/singleCalls';
import type { RewrittenTools } from '../converters/shared/RewrittenTools';
import { flattenNamespaces } from '../converters/shared/toolNamespaces';
import { capabilitiesOf } from '../vendors/capabilities';
import type { ModelRow } from '../vendors/ModelRow';
import { hostMcpTools } from './hostMcpTools';
import { inlineMedia } from './inlineMedia';
import { convertOffered } from './offeredTools';
import { pauseFor } from './pauseFor';

/** One account: its vendor's row and its settings, combined. */
export interface ProviderConfig {
  readonly id: string;
  readonly vendor: VendorName;
  readonly wire: WireName;
  readonly defaultModel?: string;
  readonly quirks: VendorQuirks;
  readonly limits: TransportLimits;
  /** Permits downloads from private addresses for images and files that callers name by URL. */
  readonly allowPrivateMedia: boolean;
  /** Models that the vendor's table lacks or describes differently. */
  readonly models?: readonly ModelRow[];
  /** Where the vendor generates all responses at this base URL. */
  readonly region?: string;
}

/** A wire, and the client that sends over it. */
export interface WireTransport {
  readonly client: VendorClient;
  readonly wire: Wire;
}

export interface ProviderDependencies extends WireTransport {
  /** The other wires that the API serves, for calls that ask for one. */
  readonly otherTransports?: readonly WireTransport[];
  readonly credentials: CredentialSource;
  /** Turns a caller's loose options into valid items. @throws LLMInvalidRequestError */
  readonly normalize: (options: GenerateOptions) => NormalizedOptions | Promise<NormalizedOptions>;
}

export interface PreparedCall {
  readonly transport: WireTransport;
  readonly options: NormalizedOptions;
  readonly context: WireContext;
  readonly request: WireRequest;
  readonly stream: boolean;
  /** What the client could not do when it sent the request, each once, and what was stored for this call. */
  readonly sent: { readonly warnings: Set<string>; tokenHours: number };
  readonly rewritten: RewrittenTools | undefined;
}

/** The transport for a call that asks for this wire. Default: the account's own. */
export function transportFor(
  { wire: ownWire }: ProviderConfig,
  dependencies: ProviderDependencies,
  wire: WireName | undefined,
): WireTransport {
  if (wire === undefined || wire === ownWire) return dependencies;
  return dependencies.otherTransports?.find((each) => each.wire.name === wire) ?? dependencies;
}

/** @param model empty for the default model */
export function capabilitiesFor(config: ProviderConfig, model: string, wire: WireName): ModelCapabilities {
  const { vendor, models, defaultModel = '', region } = config;
  const capabilities = capabilitiesOf(vendor, model === '' ? defaultModel : model, models, wire);
  return region === undefined ? capabilities : atRegion(capabilities, region);
}

function atRegion(capabilities: ModelCapabilities, region: string): ModelCapabilities {
  const { price } = capabilities;
  const factor = price?.regions?.[region] ?? price?.regions?.['*'];
  if (price === undefined || factor === undefined) return capabilities;
  return { ...capabilities, price: scaledPrice(price, { factor, onCached: true }) };
}

/** @throws LLMInvalidRequestError for invalid options, UnsupportedFeatureError for what the wire cannot express */
export async function prepareCall(
  config: ProviderConfig,
  dependencies: ProviderDependencies,
  options: GenerateOptions,
  stream: boolean,
): Promise<PreparedCall> {
  const { vendor, quirks, allowPrivateMedia } = config;
  const model = options.model ?? config.defaultModel;
  const normalizing = dependencies.normalize(
    model === undefined || options.model !== undefined ? options : { ...options, model },
  );
  const checked = normalizing instanceof Promise ? await normalizing : normalizing;
  if (checked.prompt !== undefined)
    throw new UnsupportedFeatureError('A "prompt" needs the saved prompts of a host. Send its texts.', {
      path: 'prompt',
    });
  const pause = pauseFor(checked);
  if (pause !== undefined) await pause;
  const transport = transportFor(config, dependencies, checked.wire);
  const { wire } = transport;
  const isFetchedByVendor = (part: InputImage | InputFile): boolean => wire.fetchesUrl(part, quirks);
  const inlining = inlineMedia(checked.input, {
    isFetchedByVendor,
    allowPrivateHosts: allowPrivateMedia,
    limits: config.limits,
    signal: checked.signal,
  });
  const input = inlining instanceof Promise ? await inlining : inlining;
  const inlined = input === checked.input ? checked : { ...checked, input };
  const hosted = inlined.hostedMcp === undefined ? undefined : await hostMcpTools(inlined, config, wire.name);
  const contextOf = (model: string): WireContext => ({
    vendor,
    quirks,
    capabilities: capabilitiesFor(config, model, wire.name),
  });
  const rewritten =
    hosted === undefined && !mayUseTools(inlined)
      ? undefined
      : rewriteTools(inlined, [
          (given) => keepFirstCall(given, quirks.enforcesSingleCalls === true),
          () => hosted?.rewritten,
          (given) => offerFoundTools(given, () => wire.foundTools?.(given.model, contextOf(given.model))),
          (given) =>
            offerNativeTools(given, () => wire.nativeForms?.(given.model, quirks) ?? {}, { wire: wire.name, vendor }),
          ...(wire.name === 'responses' && quirks.supportsToolNamespaces === true
            ? []
            : [mergeAdditionalTools, flattenNamespaces]),
          ...(quirks.supportsCustomTools === true ? [] : [offerCustomToolsAsFunctions]),
        ]);
  const normalized = rewritten?.options ?? inlined;
  const context = contextOf(normalized.model);
  assertCompaction(normalized, config, context.capabilities, wire.name);
  const converting = inTurns(convertOffered(normalized, (offered) => wire.toRequest(offered, context, stream)));
  const converted = converting instanceof Promise ? await converting : converting;
  const request =
    hosted === undefined ? converted : { ...converted, warnings: [...hosted.warnings, ...converted.warnings] };
  return {
    transport,
    options: normalized,
    context,
    request: withoutBackground(normalized, request, vendor),
    stream,
    sent: { warnings: new Set(), tokenHours: 0 },
    rewritten,
  };
}

/** Whether the request has what could be rewritten: most calls are messages alone. */
function mayUseTools({ tools, findableTools, parallel_tool_calls: isParallel, input }: NormalizedOptions): boolean {
  return (
    tools !== undefined ||
    findableTools !== undefined ||
    isParallel === false ||
    input.some(({ type }) => type !== 'message')
  );
}

/** @throws UnsupportedFeatureError for a compaction that this provider can neither make nor read */
function assertCompaction(
  { compact, compactedBy, model }: NormalizedOptions,
  { id, vendor }: ProviderConfig,
  { supportsCompaction }: ModelCapabilities,
  wire: WireName,
): void {
  if (compact === true && supportsCompaction !== true)
    throw new UnsupportedFeatureError(`"${model}" does not compact histories at the provider "${id}" (${vendor}).`, {
      vendor,
      path: 'compact',
    });
  if (compactedBy === undefined) return;
  const { providerId = id, vendor: maker, wire: itsWire } = compactedBy;
  if (providerId === id && maker === vendor && itsWire === wire) return;
  throw new UnsupportedFeatureError(
    `The provider "${id}" (${vendor}, ${wire}) cannot read the compaction of "${providerId}" (${maker}, ${itsWire}). ` +
      'Send the history itself.',
    { vendor, path: 'compactedBy' },
  );
}

/** @throws UnsupportedFeatureError for a conversation that the vendor does not store */
function withoutBackground(
  { background, conversation }: NormalizedOptions,
  request: WireRequest,
  vendor: VendorName,
): WireRequest {
  if (conversation !== undefined && request.body.conversation === undefined)
    throw new UnsupportedFeatureError(`${vendor} stores no conversations. Send the history, or use a chain.`, {
      vendor,
      path: 'conversation',
    });
  if (background !== true || request.body.background === true) return request;
  return { ...request, warnings: [...request.warnings, `"background" was omitted: ${vendor} does not have it.`] };
}

export function callOf(
  { options, request, stream, sent }: PreparedCall,
  { credential, userId, signal }: StoredResponseCall,
): VendorCall {
  const { cachedPrefix } = request;
  return {
    model: options.model,
    body: request.body,
    stream,
    headers: request.headers,
    cachedPrefix,
    onWarning: cachedPrefix && ((warning) => sent.warnings.add(warning)),
    onStored:
      cachedPrefix &&
      ((tokenHours) => {
        sent.tokenHours += tokenHours;
      }),
    compact: options.compact,
    credential,
    userId,
    signal,
    timeout: options.timeout,
  };
}

/** Returns the warnings of a call that has been sent. */
export function warningsOf({ request: { warnings }, sent }: PreparedCall): readonly string[] {
  return sent.warnings.size === 0 ? warnings : [...warnings, ...sent.warnings];
}

export function responseContext(
  prepared: PreparedCall,
  response: { readonly requestId?: VendorHttpResponse['requestId'] },
): ResponseContext {
  const { request, context, options } = prepared;
  const { requestId } = response;
  return {
    vendor: context.vendor,
    quirks: context.quirks,
    capabilities: context.capabilities,
    model: options.model,
    warnings: warningsOf(prepared),
    losses: request.losses,
    receivedAt: Math.floor(Date.now() / 1000),
    requestId,
    structuredOutputTool: request.structuredOutputTool,
    streamArguments: options.streamArguments,
    storedTokenHours: prepared.sent.tokenHours,
  };
}
