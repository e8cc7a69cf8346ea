/**
 * Bolide's own format: conversations as flat lists of items, in the OpenAI Responses format as specified by Open
 * Responses (https://www.openresponses.org, release 2026-04-24). Types only, no logic.
 */
import type { CallCost } from './ModelPrice';
import type { JsonObject, Origin, VendorPart } from './VendorTypes';

export const MessageRole = { USER: 'user', ASSISTANT: 'assistant', DEVELOPER: 'developer', SYSTEM: 'system' } as const;
export type MessageRole = (typeof MessageRole)[keyof typeof MessageRole];

/** Parts of a message. The last three are accepted as input only; the normalizer converts them to parts and items. */
export const ContentType = {
  INPUT_TEXT: 'input_text',
  INPUT_IMAGE: 'input_image',
  INPUT_FILE: 'input_file',
  OUTPUT_TEXT: 'output_text',
  REFUSAL: 'refusal',
  REASONING_TEXT: 'reasoning_text',
  SUMMARY_TEXT: 'summary_text',
  INPUT_IMAGE_URL: 'input_image_url',
  TOOL_USE: 'tool_use',
  TOOL_RESULT: 'tool_result',
} as const;
export type ContentType = (typeof ContentType)[keyof typeof ContentType];

interface Carried {
  readonly vendor?: VendorPart;
}

export interface InputText extends Carried {
  readonly type: 'input_text';
  readonly text: string;
}

export interface InputImage extends Carried {
  readonly type: 'input_image';
  /** An http(s) URL or a data URI. */
  readonly image_url?: string;
  readonly file_id?: string;
  readonly detail?: 'auto' | 'low' | 'high' | (string & {});
}

export interface InputFile extends Carried {
  readonly type: 'input_file';
  readonly file_id?: string;
  readonly file_url?: string;
  /** A data URI, or plain base64 whose type follows from `filename`. */
  readonly file_data?: string;
  readonly filename?: string;
}

export interface OutputText extends Carried {
  readonly type: 'output_text';
  readonly text: string;
  readonly annotations: readonly JsonObject[];
  readonly logprobs?: readonly unknown[];
}

export interface Refusal extends Carried {
  readonly type: 'refusal';
  readonly refusal: string;
}

export interface ReasoningText extends Carried {
  readonly type: 'reasoning_text';
  readonly text: string;
}

export interface SummaryText extends Carried {
  readonly type: 'summary_text';
  readonly text: string;
}

export type InputContent = InputText | InputImage | InputFile;
export type OutputContent = OutputText | Refusal;
export type Content = InputContent | OutputContent;

export type ItemStatus = 'in_progress' | 'completed' | 'incomplete' | (string & {});

export interface MessageItem extends Carried {
  readonly type: 'message';
  readonly id?: string;
  readonly role: MessageRole;
  readonly content: readonly Content[];
  readonly status?: ItemStatus;
  readonly phase?: string;
}

export interface FunctionCallItem extends Carried {
  readonly type: 'function_call';
  readonly id?: string;
  readonly call_id: string;
  readonly name: string;
  /** JSON text, exactly as the model wrote it. */
  readonly arguments: string;
  readonly status?: ItemStatus;
  readonly async?: boolean;
  /** The call as its vendor wrote it, if it called a native tool. It goes back to that vendor in this form. */
  readonly native?: { readonly origin: Origin; readonly item: OutputItem };
  /** What made the call: the model, or a program of it. https://developers.openai.com/api/docs/guides/tools-programmatic-tool-calling */
  readonly caller?: JsonObject;
}

export interface FunctionCallOutputItem extends Carried {
  readonly type: 'function_call_output';
  readonly id?: string;
  readonly call_id: string;
  readonly output: string | readonly InputContent[];
  /** `in_progress` marks an acknowledgement: the call was accepted, and its result follows. */
  readonly status?: ItemStatus;
  /** Whether this is the result of a call that was acknowledged earlier. */
  readonly deferred?: boolean;
  /** The tool's name and the call's final state, for wires that render a deferred result or an error flag. */
  readonly name?: string;
  readonly state?: string;
  /** The `caller` of the call. */
  readonly caller?: JsonObject;
}

export interface ReasoningItem extends Carried {
  readonly type: 'reasoning';
  readonly id?: string;
  readonly summary: readonly SummaryText[];
  readonly content?: readonly ReasoningText[];
  readonly encrypted_content?: string;
  readonly status?: ItemStatus;
  readonly origin?: Origin;
}

export interface CompactionItem extends Carried {
  readonly type: 'compaction';
  readonly id?: string;
  readonly encrypted_content: string;
  readonly origin?: Origin;
}

/** Content of a wire other than Responses that has no equivalent here; `item` holds it unchanged. */
export interface VendorItem extends Carried {
  readonly type: 'vendor_item';
  readonly id?: string;
  readonly origin: Origin;
  readonly item: JsonObject;
}

/** Items of the Responses format that a server creates and reads back. Every field is preserved. */
export type HostedItemType =
  | 'web_search_call'
  | 'file_search_call'
  | 'computer_call'
  | 'computer_call_output'
  | 'code_interpreter_call'
  | 'image_generation_call'
  | 'local_shell_call'
  | 'local_shell_call_output'
  | 'shell_call'
  | 'shell_call_output'
  | 'apply_patch_call'
  | 'apply_patch_call_output'
  | 'mcp_call'
  | 'mcp_list_tools'
  | 'mcp_approval_request'
  | 'mcp_approval_response'
  | 'custom_tool_call'
  | 'custom_tool_call_output'
  | 'tool_search_call'
  | 'tool_search_output'
  | 'additional_tools'
  | 'item_reference';

/** Types that are newer than this list are hosted items too, with their own `type`. */
export interface HostedItem extends Carried {
  readonly type: HostedItemType;
  readonly id?: string;
  readonly status?: ItemStatus;
  readonly origin?: Origin;
  readonly [field: string]: unknown;
}

export type Item =
  | MessageItem
  | FunctionCallItem
  | FunctionCallOutputItem
  | ReasoningItem
  | CompactionItem
  | VendorItem
  | HostedItem;

export type InputItem = Item;
export type OutputItem = Item;

/** Token counts of one call, or of several. `input_tokens` counts all input, cached parts included. */
export interface Usage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly total_tokens: number;
  readonly input_tokens_details: {
    readonly cached_tokens: number;
    readonly cache_write_tokens: number;
    /** The part of `cache_write_tokens` that was written for an hour, at a higher price. Absent: none. */
    readonly cache_write_1h_tokens?: number;
    /** The part of `cache_write_tokens` that was written for twelve hours. Absent: none. */
    readonly cache_write_12h_tokens?: number;
    /** Audio, cached audio included. Absent: none, or not reported. */
    readonly audio_tokens?: number;
    readonly cached_audio_tokens?: number;
    /** Images, cached images included. Absent: none, or not reported. */
    readonly image_tokens?: number;
    readonly cached_image_tokens?: number;
    /** What a tool of the vendor found, where the vendor does not charge for it as input. Absent: none. */
    readonly free_tokens?: number;
    /** What was stored in a cache for this call, in tokens times the hours of their lifetime. Absent: nothing. */
    readonly stored_token_hours?: number;
  };
  readonly output_tokens_details: {
    readonly reasoning_tokens: number;
    /** Absent: none, or not reported. */
    readonly audio_tokens?: number;
    /** Absent: none, or not reported. */
    readonly image_tokens?: number;
  };
  /**
   * How often tools of the vendor ran that it may charge for, by the vendor's names: `{ web_search: 3 }`. Absent: none
   * did.
   */
  readonly server_tool_use?: Readonly<Record<string, number>>;
  /** The counts are estimates, since the call was cut off before the vendor reported any. */
  readonly estimated?: boolean;
}

export type ResponseStatus = 'completed' | 'failed' | 'in_progress' | 'cancelled' | 'queued' | 'incomplete';

/** A response in Bolide's format, whichever vendor it came from. */
export interface LLMResponse {
  readonly id: string;
  readonly object: 'response';
  /** Seconds since the epoch. */
  readonly created_at: number;
  readonly status: ResponseStatus;
  readonly incomplete_details?: { readonly reason: 'max_output_tokens' | 'content_filter' | (string & {}) } | null;
  readonly model: string;
  readonly output: readonly OutputItem[];
  /** The text of all messages in `output`, concatenated. */
  readonly output_text: string;
  readonly usage: Usage;
  readonly error?: { readonly code: string; readonly message: string } | null;
  readonly previous_response_id?: string | null;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly vendor: ResponseVendor;
}

/** An attempt that failed and was followed by another one, of the same provider or of a fallback. */
export interface FailedAttempt extends CallCost {
  /** The provider that failed. */
  readonly providerId: string;
  /** The error's code. */
  readonly reason: string;
  /** HTTP status of the vendor's response. */
  readonly status?: number;
  /** Milliseconds until the next attempt. */
  readonly delay: number;
  /** The provider of the next attempt, if it is another one. */
  readonly fallback?: string;
  /** The tokens of a response that was received and discarded; they are billed. */
  readonly usage?: Usage;
}

/** Details of the call. The router sets `cost` or `unpriced`; if the vendor reports the cost, the converter does. */
export interface ResponseVendor extends CallCost {
  readonly name: string;
  /** The id of the provider that served the request. Set by the router. */
  readonly providerId?: string;
  readonly wire: import('./VendorTypes').WireName;
  /** The vendor's own finish reason, verbatim. */
  readonly finish_reason: string | null;
  readonly request_id?: string;
  /** The vendor's id of the batch that answered the request. Its `cost` is that of requests in batches. */
  readonly batch_id?: string;
  /** A stored response of an earlier call, which has cost nothing. `usage` is that of the earlier call. */
  readonly cached?: true;
  readonly warnings: readonly string[];
  /** How many calls only the vendor's own copy of the response has, from which no conversation can continue. */
  readonly omitted_calls?: number;
  /** What failed before this response, oldest first. Absent if the first attempt succeeded. */
  readonly attempts?: readonly FailedAttempt[];
  readonly losses: readonly import('./VendorTypes').Loss[];
  /** Fields of the wire's response that have no equivalent here, verbatim. */
  readonly fields?: JsonObject;
  /** The wire's own usage object, verbatim. */
  readonly usage?: JsonObject;
  /** The saved prompt that the request had. */
  readonly prompt?: { readonly name: string; readonly version: number };
  /** What models have used that tools of the vendor called, such as that of image generation. It is not in `usage`. */
  readonly tool_models?: readonly ToolModelUsage[];
}

/** The usage of a model that a tool of the vendor called. */
export interface ToolModelUsage {
  readonly model: string;
  readonly usage: Usage;
}
