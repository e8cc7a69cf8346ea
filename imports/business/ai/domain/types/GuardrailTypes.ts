/** What guardrails see and decide. */
import type { CallOrigin } from './RequestRecords';
import type { GenerateOptions } from './LLMTypes';
import type { InputItem } from './ResponsesAPITypes';
import type { JsonObject } from './VendorTypes';

export interface GuardrailContext {
  readonly userId: string;
  /** The model as the caller named it. */
  readonly model?: string;
  readonly isStream: boolean;
  readonly origin?: CallOrigin;
  readonly signal?: AbortSignal;
}

/** The content of a request. */
export interface GuardedRequest extends Pick<
  GenerateOptions,
  | 'instructions'
  | 'tools'
  | 'tool_choice'
  | 'response_format'
  | 'stop'
  | 'reasoning'
  | 'promptCache'
  | 'metadata'
  | 'user'
  | 'vendor'
> {
  readonly input: readonly InputItem[];
  /** The other fields of a request for images, audio, moderations or embeddings. */
  readonly media?: JsonObject;
}

/** Nothing at all, or an empty object, lets the call pass. */
export interface GuardrailVerdict<Changed> {
  /** Denies the call; the caller is told this reason. */
  readonly deny?: string;
  /** Replaces what was checked. */
  readonly change?: Changed;
  /** Recorded in the request log. */
  readonly annotate?: JsonObject;
}

/** What of the text may be passed on; a string is short for `{ text }`. */
export type FilteredText = string | (Omit<GuardrailVerdict<never>, 'change'> & { readonly text: string });

/** Reads one text as it arrives. It holds back what it cannot decide yet. */
export interface TextFilter {
  push(text: string): FilteredText | Promise<FilteredText>;
  /** The text is complete. */
  end(): FilteredText | Promise<FilteredText>;
}
