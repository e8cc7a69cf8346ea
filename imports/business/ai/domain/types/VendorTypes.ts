/** Vendors and wires: the two axes along which an LLM host differs from another. */

export const VENDORS = [
  'openai',
  'azure_openai',
  'anthropic',
  'google',
  'grok',
  'groq',
  'llama',
  'openai_compatible',
] as const;
export type VendorName = (typeof VENDORS)[number];

/** A wire is a protocol; its scheme is the name that streams and vendor parts use for it. */
export const SCHEME_OF_WIRE = {
  responses: 'openai_responses',
  chat_completions: 'openai',
  anthropic_messages: 'anthropic',
  gemini: 'google',
} as const;
export type WireName = keyof typeof SCHEME_OF_WIRE;
export type SchemeName = (typeof SCHEME_OF_WIRE)[WireName];

export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };
export type JsonObject = Record<string, unknown>;

/** Words of one wire that the inner language does not have, carried back to that wire only. */
export type VendorPart = { readonly [S in SchemeName]?: JsonObject };

/** Verbatim request fields, by scheme or by vendor; a vendor's own win over its scheme's. */
export type VendorFields = { readonly [K in SchemeName | VendorName]?: JsonObject };

/** Where something opaque was made. Sealed content goes back only to the wire, vendor and model family that made it. */
export interface Origin {
  readonly wire: WireName;
  readonly vendor?: string;
  readonly model?: string;
}

/** Something that a conversion could not carry. */
export interface Loss {
  /** JSON path in the inner request, e.g. `input[3].content[0]`. */
  readonly path: string;
  readonly what: string;
  readonly reason: string;
}

/**
 * How one host departs from its wire. Data in the vendor's row; converters read it, they never ask for a vendor's
 * name.
 */
export interface VendorQuirks {
  /** Chat: the field that limits the answer. */
  readonly maxTokensField: 'max_tokens' | 'max_completion_tokens';
  /** Chat: the role under which the operator's instructions are sent. */
  readonly systemRole: 'system' | 'developer';
  /** Chat: a stream may end with `finish_reason: null` and `[DONE]`. */
  readonly allowsNullFinishReason: boolean;
  /** Chat: whether `stream_options.include_usage` is understood. */
  readonly supportsStreamUsage: boolean;
  /** Chat: `completion_tokens` leaves reasoning tokens out. */
  readonly completionTokensExcludeReasoning: boolean;
  /** Native structured output that the host has. */
  readonly structuredOutput: 'json_schema' | 'json_object' | 'none';
  /** Whether `strict` on tools is understood. */
  readonly supportsStrictTools: boolean;
  /** Whether `strict` on a response format is understood. Absent: it is. */
  readonly supportsStrictSchemas?: boolean;
  readonly supportsParallelToolCalls: boolean;
  /** Whether the host fetches image URLs itself. */
  readonly fetchesImageUrls: boolean;
  /** Top-level request fields that the host refuses; they are dropped and reported. */
  readonly unsupportedFields: readonly string[];
  /**
   * Chat: the only message fields that the host takes; others are left out and reported. Absent: what came from a
   * host goes back to it.
   */
  readonly messageFields?: readonly string[];
  /** Chat: most stop sequences in one request. Absent: no limit is known. */
  readonly maxStopSequences?: number;
  /** Chat: longest call id. Absent: no limit is known. */
  readonly maxCallIdLength?: number;
  /** Chat: whether a tool message may hold images; elsewhere they follow in a user message. */
  readonly imagesInToolOutput?: boolean;
  /** Chat: whether user messages may hold files. */
  readonly acceptsFiles?: boolean;
  /** Chat: whether `tool_choice` may name several allowed tools; elsewhere only those tools are offered. */
  readonly supportsAllowedTools?: boolean;
  /** Chat: `metadata` is refused unless `store` is on. */
  readonly metadataNeedsStore?: boolean;
  /** Chat: what is left of `structuredOutput` beside tools. Absent: all of it. */
  readonly structuredOutputWithTools?: 'json_schema' | 'json_object' | 'none';
  /** Chat: the only reasoning efforts that the host knows; others are sent as the nearest. Absent: any word. */
  readonly reasoningEfforts?: readonly string[];
  /** Chat: how the host's own tools are asked for, by built-in tool type. */
  readonly builtInTools?: Readonly<Record<string, BuiltInToolForm>>;
  /**
   * What is different for some of the host's models: each rule whose pattern matches applies, later ones win;
   * refused fields add up.
   */
  readonly modelRules?: readonly ModelRule[];
}

/** How one host asks for a tool of its own over the chat wire. */
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

/** Caps of one transport. Times in milliseconds, sizes in bytes. */
export interface TransportLimits {
  readonly connectTimeout: number;
  /** Longest silence between two chunks that carry data; comments don't count as data. */
  readonly streamIdleTimeout: number;
  /** The whole call, body included. */
  readonly totalTimeout: number;
  readonly maxResponseBytes: number;
  readonly maxEventBytes: number;
  readonly maxSockets: number;
}

export const DEFAULT_TRANSPORT_LIMITS: TransportLimits = {
  connectTimeout: 10_000,
  streamIdleTimeout: 60_000,
  totalTimeout: 600_000,
  maxResponseBytes: 64 * 1024 * 1024,
  maxEventBytes: 8 * 1024 * 1024,
  maxSockets: 256,
};
