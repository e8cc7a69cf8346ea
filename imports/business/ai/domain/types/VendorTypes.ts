/** Vendors and wires: the two axes along which LLM APIs differ. */
import type { NativeToolType } from './NativeTool';

/** Every vendor, with the label that people read. The facts about each are in `infrastructure/vendors`. */
export const VENDOR_LABELS = {
  openai: 'OpenAI',
  azure_openai: 'Azure OpenAI',
  anthropic: 'Anthropic',
  google: 'Google Gemini',
  grok: 'xAI Grok',
  groq: 'Groq',
  llama: 'Llama',
  openai_compatible: 'OpenAI-compatible API',
} as const;
export type VendorName = keyof typeof VENDOR_LABELS;
export const VENDORS = Object.keys(VENDOR_LABELS) as readonly VendorName[];

/** A wire is a protocol; streams and vendor-specific parts refer to it by its scheme. */
export const SCHEME_OF_WIRE = {
  responses: 'openai_responses',
  chat_completions: 'openai',
  anthropic_messages: 'anthropic',
  gemini: 'google',
  interactions: 'google_interactions',
} as const;
export type WireName = keyof typeof SCHEME_OF_WIRE;
export type SchemeName = (typeof SCHEME_OF_WIRE)[WireName];

/** The wires that Bolide's own API speaks. Streams can be written in their schemes; they can be read in any. */
export type ServedWire = Exclude<WireName, 'interactions'>;
export type ServedScheme = (typeof SCHEME_OF_WIRE)[ServedWire];

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = Record<string, unknown>;

/** Fields of one wire that Bolide's own format lacks. They are sent back to that wire only. */
export type VendorPart = { readonly [S in SchemeName]?: JsonObject };

/** Request fields to send verbatim, by scheme or by vendor; a vendor's own take precedence over its scheme's. */
export type VendorFields = { readonly [K in SchemeName | VendorName]?: JsonObject };

/**
 * Where opaque content comes from. Encrypted content is sent back only to the wire, vendor and model family it came
 * from.
 */
export interface Origin {
  readonly wire: WireName;
  readonly vendor?: string;
  readonly model?: string;
}

/** Something that a conversion could not carry. */
export interface Loss {
  /** JSON path in Bolide's request, e.g. `input[3].content[0]`. */
  readonly path: string;
  readonly what: string;
  readonly reason: string;
}

/** The beginning of a request that the vendor is to store. */
export interface CachedPrefix {
  /** Where it may end, from short to long: the elements of the body's `contents` before it, less than all. */
  readonly ends: readonly [number, ...number[]];
  /** How long it is stored, in seconds. */
  readonly lifetime: number;
}

/** How an API departs from its wire. Converters read these fields and never check for a vendor's name. */
export interface VendorQuirks {
  /** Chat: the field that limits the response. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** Chat: the role under which the operator's instructions are sent. */
  readonly systemRole: 'system' | 'developer';
  /** Chat: whether a stream may end with `finish_reason: null` and `[DONE]`, even without usage. */
  readonly allowsNullFinishReason: boolean;
  /** Chat: whether a stream may end without `[DONE]`, after its finish reason and its usage. Default: false. */
  readonly allowsMissingEndMarker?: boolean;
  /** Chat: whether `stream_options.include_usage` is supported. */
  readonly supportsStreamUsage: boolean;
  /** Chat: whether `completion_tokens` excludes reasoning tokens. */
  readonly completionTokensExcludeReasoning: boolean;
  /** The native structured output that the API supports. */
  readonly structuredOutput: 'json_schema' | 'json_object' | 'none';
  /** Whether `strict` on tools is supported. */
  readonly supportsStrictTools: boolean;
  /** Responses: whether tools may be grouped in namespaces, and may come with the input. Default: false. */
  readonly supportsToolNamespaces?: boolean;
  /** Responses: whether programs of the model may call tools. Default: false. */
  readonly supportsProgrammaticTools?: boolean;
  /** Whether tools with free text as their input are supported; otherwise they are offered as functions. */
  readonly supportsCustomTools?: boolean;
  /**
   * The vendor's own tools that the client executes, each with the source of a regular expression for the models that
   * have it. Other models are offered functions. Default: none.
   */
  readonly nativeTools?: Readonly<Partial<Record<NativeToolType, string>>>;
  /** Responses: a pattern for the models that take tools from items of the input. Default: none do. */
  readonly additionalTools?: string;
  /** Whether the Responses API has background mode and conversations. Default: false. */
  readonly supportsBackground?: boolean;
  /** Responses: whether `presence_penalty` and `frequency_penalty` of Open Responses are accepted. Default: false. */
  readonly hasOpenResponsesPenalties?: boolean;
  /** Whether `strict` on a response format is supported. Default: true. */
  readonly supportsStrictSchemas?: boolean;
  /** The keywords that strict response formats may have besides those of OpenAI's guide, such as `default`. */
  readonly strictKeywords?: readonly string[];
  /** Whether strict response formats may have optional properties. Default: false; they become nullable. */
  readonly acceptsStrictOptionals?: boolean;
  readonly supportsParallelToolCalls: boolean;
  /** Whether the API documents that `parallel_tool_calls: false` yields at most one call. Default: false. */
  readonly enforcesSingleCalls?: boolean;
  /**
   * How a request says what is to be cached: by marks in it, by a key that a conversation's requests share, or by the
   * name of contents that were stored before. Absent: in no way, and the API caches what it likes.
   */
  readonly promptCache?: 'marks' | 'key' | 'stored';
  /** A pattern for the models whose requests mark in their content what is to be cached. Default: none. */
  readonly promptCacheBreakpoints?: string;
  /** Whether the API fetches image URLs itself. */
  readonly fetchesImageUrls: boolean;
  /** Chat: whether the API fetches URLs of files itself, in place of their data. Default: false. */
  readonly fetchesFileUrls?: boolean;
  /** Chat: whether Mistral's `document_url` is accepted; otherwise a client's is sent as a file. Default: false. */
  readonly acceptsDocumentUrls?: boolean;
  /** Top-level request fields that the API rejects; they are dropped and reported. */
  readonly unsupportedFields: readonly string[];
  /**
   * Chat: the only message fields that the API accepts; others are dropped and reported. Absent: any field that came
   * from the API is sent back to it.
   */
  readonly messageFields?: readonly string[];
  /** Chat: the maximum number of stop sequences in a request. Absent: no documented limit. */
  readonly maxStopSequences?: number;
  /** Chat: the maximum length of a call id. Absent: no documented limit. */
  readonly maxCallIdLength?: number;
  /** Chat: whether a tool message may hold images; otherwise they follow in a user message. */
  readonly imagesInToolOutput?: boolean;
  /** Chat: whether the annotations of files, by which the host recognizes what it has parsed, are taken back. */
  readonly acceptsFileAnnotations?: boolean;
  /** Chat: whether user messages may hold files. */
  readonly acceptsFiles?: boolean;
  /** Chat: whether `tool_choice` may name several allowed tools; otherwise only those tools are offered. */
  readonly supportsAllowedTools?: boolean;
  /** Chat: whether `metadata` is rejected unless `store` is on. */
  readonly metadataNeedsStore?: boolean;
  /** Chat: what is supported of `structuredOutput` in requests with tools. Default: all of it. */
  readonly structuredOutputWithTools?: 'json_schema' | 'json_object' | 'none';
  /** Whether `temperature` and `top_p` may only be 1; other values are dropped and reported. Default: false. */
  readonly fixedSampling?: boolean;
  /** The only reasoning efforts that the API accepts; others are replaced by the nearest. Absent: any. */
  readonly reasoningEfforts?: readonly string[];
  /** Chat: how the API's built-in tools are requested, by built-in tool type. */
  readonly builtInTools?: Readonly<Record<string, BuiltInToolForm>>;
  /**
   * Exceptions for some models. Every rule whose pattern matches applies; later rules win, and their
   * `unsupportedFields` add up.
   */
  readonly modelRules?: readonly ModelRule[];
}

/** How a built-in tool is requested over the chat wire. */
export type BuiltInToolForm =
  /** An entry of `tools`. */
  | { readonly as: 'tool'; readonly type: string }
  /** A name in `compound_custom.tools.enabled_tools`. */
  | { readonly as: 'enabled_tool'; readonly name: string }
  /** The field `web_search_options`. */
  | { readonly as: 'web_search_options' };

export interface ModelRule {
  /** Source of a regular expression, matched case-insensitively against the model's name. */
  readonly models: string;
  readonly quirks: Partial<Omit<VendorQuirks, 'modelRules'>>;
}

/** Limits of one account's HTTP calls. Times are in milliseconds, sizes in bytes. */
export interface TransportLimits {
  readonly connectTimeout: number;
  /** The longest pause between two chunks that carry data; comments don't count as data. */
  readonly streamIdleTimeout: number;
  /** The entire call, body included. */
  readonly totalTimeout: number;
  readonly maxResponseBytes: number;
  readonly maxEventBytes: number;
  readonly maxSockets: number;
  /** The size of all downloads for one request, which are made because the vendor does not fetch URLs itself. */
  readonly maxMediaBytes: number;
  /** Different URLs that one request may make Bolide download. */
  readonly maxMediaDownloads: number;
}

export const DEFAULT_TRANSPORT_LIMITS: TransportLimits = {
  connectTimeout: 10_000,
  streamIdleTimeout: 60_000,
  totalTimeout: 600_000,
  maxResponseBytes: 64 * 1024 * 1024,
  maxEventBytes: 8 * 1024 * 1024,
  maxSockets: 256,
  // Vendors accept about 20 MB of media in one request. https://ai.google.dev/gemini-api/docs/file-input-methods
  maxMediaBytes: 20 * 1024 * 1024,
  maxMediaDownloads: 100,
};
