/** What callers may request of a model, before and after normalization. */
import type { FindableTools } from './ToolSearch';
import type { RateLimitState } from './ApiTokenLimits';
import type { GuardrailAnnotation } from './GuardrailAnnotation';
import type { RelayTarget } from './RelayTarget';
import type { CallOrigin, VendorExchange } from './RequestRecords';
import type { Content, FailedAttempt, InputItem, ItemStatus, MessageRole } from './ResponsesAPITypes';
import type { SentRequest } from './StoredObjects';
import type { JsonObject, Loss, VendorFields, WireName } from './VendorTypes';
import type { RunTurn } from '../entities/BudgetAccount';
import type { BackgroundTurn } from '../interfaces/BackgroundCalls';
import type { CompactionReader } from './Compaction';
import type { HostedMcpTools } from './HostedMcp';
import type { BatchedCall } from '../interfaces/VendorBatches';
import type { BuiltInTool, FunctionTool, Tool } from '../entities/Tool';

/** Content parts that are accepted as input in addition to `Content`. */
export interface ToolUseContent {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: string;
  readonly arguments?: string | JsonObject;
  readonly input?: unknown;
}
export interface ToolResultContent {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  /** An object is sent as JSON. */
  readonly content?: string | readonly unknown[] | JsonObject;
  readonly is_error?: boolean;
}
export interface InputImageUrlContent {
  readonly type: 'input_image_url';
  readonly image_url: { readonly url: string; readonly detail?: string };
}
export interface ChatTextContent {
  readonly type: 'text';
  readonly text: string;
}
export interface ChatImageContent {
  readonly type: 'image_url';
  readonly image_url: { readonly url: string; readonly detail?: string };
}
export type LooseContent =
  | Content
  | ToolUseContent
  | ToolResultContent
  | InputImageUrlContent
  | ChatTextContent
  | ChatImageContent;

/**
 * A message as callers write it: `type` is optional, content may be a string, and Chat Completions fields are accepted.
 */
export interface LooseMessage {
  readonly type?: 'message';
  readonly id?: string;
  readonly role: MessageRole | 'tool';
  readonly content?: string | readonly (LooseContent | string)[] | null;
  readonly status?: ItemStatus;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly type?: 'function';
    readonly function: { readonly name: string; readonly arguments?: string };
  }[];
  readonly tool_call_id?: string;
  readonly refusal?: string | null;
}

export type LLMInput = string | readonly (InputItem | LooseMessage | string)[];

/** A tool with the nesting of Chat Completions. Other settings stand beside `function`. */
export interface NestedFunctionTool extends Omit<Partial<FunctionTool>, 'type' | 'name'> {
  readonly type: 'function';
  readonly function: Pick<FunctionTool, 'name' | 'description' | 'parameters' | 'strict'>;
}
export type LooseTool = Tool | NestedFunctionTool;

export type ToolChoice =
  | 'auto'
  | 'none'
  | 'required'
  | { readonly type: 'function'; readonly name: string }
  | { readonly type: BuiltInTool['type']; readonly name?: string }
  | {
      readonly type: 'allowed_tools';
      readonly mode?: 'auto' | 'required';
      readonly tools: readonly { readonly type: string; readonly name?: string }[];
    };

export type ResponseFormat =
  | { readonly type: 'text' }
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema';
      readonly name?: string;
      readonly description?: string;
      readonly schema: JsonObject;
      readonly strict?: boolean | null;
    };

export type ReasoningEffort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh' | (string & {});

/** A saved prompt, by its name: the user's own, or else the shared one. */
export interface PromptReference {
  readonly name: string;
  /** Which version. Default: the one labelled `production` or, if there is none, the newest. */
  readonly label?: string | undefined;
  readonly version?: number | undefined;
  /** The values of `{{name}}` in its texts. */
  readonly variables?: Readonly<Record<string, string>> | undefined;
  /** Whether only the prompt that everyone can use counts. Default: false. */
  readonly shared?: boolean | undefined;
}

/** What a routing rule adds to requests that set no value of their own. */
export interface RouteDefaults {
  readonly temperature?: number | undefined;
  readonly top_p?: number | undefined;
  readonly max_output_tokens?: number | undefined;
  readonly reasoning?: { readonly effort: ReasoningEffort } | undefined;
  readonly instructions?: string | undefined;
  /** One that everyone can use. */
  readonly prompt?: PromptReference | undefined;
}

/** The targets that a routing rule has selected for one request, and its settings. */
export interface SelectedRoute {
  /** The rule's. */
  readonly name: string;
  /** `provider/model`, or `provider` for its default model. The first is called first, the others are its fallbacks. */
  readonly targets: readonly string[];
  /** Limit of each attempt, in milliseconds. */
  readonly timeout?: number;
  /** Limit of each attempt at a stream until the first piece of its content, in milliseconds. */
  readonly firstTokenTimeout?: number;
  /** Further attempts at the same target. */
  readonly maxRetries?: number;
  readonly defaults?: RouteDefaults;
  /** Names the conversation, so that its requests go to the same target. */
  readonly conversation?: string;
}

/** An attempt that is about to be made. */
export interface StartedAttempt {
  readonly providerId: string;
  /** Absent for a default that only the vendor knows. */
  readonly model?: string;
  /** 1 is the first. */
  readonly number: number;
  /** Another provider or model than the one that was to be called first. */
  readonly isFallback: boolean;
  /** The name of the routing rule. */
  readonly route?: string;
}

/** One request to one model. */
export interface GenerateOptions {
  readonly model?: string;
  /**
   * The id of the provider that `model` stands for. The call fails if there is no such provider any more, where another
   * one would get it otherwise. Default: whichever provider `model` leads to.
   */
  readonly providerId?: string;
  readonly input: LLMInput;
  readonly instructions?: string;
  /** A saved prompt, whose instructions, message and settings the request gets where it has none. On a host only. */
  readonly prompt?: PromptReference;
  readonly tools?: readonly LooseTool[];
  readonly tool_choice?: ToolChoice;
  /**
   * What to do with server tools that the vendor lacks, in requests that offer functions as well. Default: `refuse`;
   * `drop` leaves them out and adds a warning.
   */
  readonly unsupportedTools?: 'refuse' | 'drop';
  readonly temperature?: number;
  readonly top_p?: number;
  /** Sample only from this many most likely tokens. */
  readonly top_k?: number;
  /** Makes sampling repeatable, as far as the model permits. */
  readonly seed?: number;
  /** From -2 to 2. Positive values penalize tokens that occurred, and tokens for every time they did. */
  readonly presence_penalty?: number;
  readonly frequency_penalty?: number;
  readonly max_output_tokens?: number;
  readonly response_format?: ResponseFormat;
  readonly parallel_tool_calls?: boolean;
  readonly previous_response_id?: string;
  readonly store?: boolean;
  /**
   * Has the vendor generate the response in the background, and waits for it: for responses that take long. A run whose
   * process dies then waits for the same response. OpenAI and Azure OpenAI have it, and store the response; elsewhere
   * the call is an ordinary one, with a warning. Default: false.
   */
  readonly background?: boolean;
  /**
   * A conversation that OpenAI or Azure OpenAI stores (`conv_…`): the response continues it, and is added to it. Its
   * earlier items are not in `input`. Not for runs, whose turns have all of their history.
   */
  readonly conversation?: string;
  readonly reasoning?: { readonly effort?: ReasoningEffort | null; readonly summary?: string | null };
  readonly stop?: string | readonly string[];
  readonly metadata?: Readonly<Record<string, string>>;
  readonly user?: string;
  readonly signal?: AbortSignal;
  /** Limit for the entire call, retries included, in milliseconds. */
  readonly timeout?: number;
  /**
   * Milliseconds from the start of the call within which retries start; a vendor that asks for a longer pause is not
   * retried. Default: the router's policy alone decides.
   */
  readonly maxRetryTime?: number;
  /** Extra request fields to send verbatim, by scheme (`anthropic`, `google`, …) or vendor name. */
  readonly vendor?: VendorFields;
  /** The wire to use with an API that supports several. Other APIs use their own. */
  readonly wire?: WireName;
  /** The run that makes this call, stored or not, for what observes calls. */
  readonly executionId?: string;
  /** The run's turn that makes this call. It lets budgets recognize a turn that is repeated after a crash. */
  readonly turn?: RunTurn;
  /** Adds the wire's raw messages (`wire.message`) to the stream, for a client that uses the same wire. */
  readonly relay?: boolean;
  /**
   * Adds the arguments of calls to the stream while the model writes them, for display: complete and valid ones follow.
   * Default: false.
   */
  readonly streamArguments?: boolean;
  /** With `relay`: takes the messages that need not be decoded. */
  readonly relayTo?: RelayTarget;
  /** With `relay`, for a response that is not streamed: called with its body as the vendor sent it. */
  readonly onBody?: (body: string) => void;
  /** The targets that the caller has selected. Default: the routing rule that `model` names selects them. */
  readonly route?: SelectedRoute;
  /** The targets that the routing rule may use, as the rule has them. Default: all. */
  readonly routeTargets?: readonly string[];
  /** Called before each attempt. */
  readonly onAttempt?: (attempt: StartedAttempt) => void;
  /** Called before each attempt is sent, once its credential is known. What it throws refuses the attempt. */
  readonly onSend?: (request: SentRequest) => Promise<void>;
  /**
   * Called with the head of the vendor's response, for a client of the vendor's own API; once for each attempt with a
   * successful status.
   */
  readonly onHead?: (head: AnswerHead) => void;
  /** Called when an attempt has failed, before the next one. `response.vendor.attempts` lists them afterwards. */
  readonly onRetry?: (attempt: FailedAttempt) => void;
  /**
   * Called once for each attempt, before it is sent, with the vendor's own request and response: the latter grows while
   * it is received. Makes the body of the response be kept in memory.
   */
  readonly onExchange?: (exchange: VendorExchange) => void;
  /**
   * Answers from the user's stored response to the same request, if there is one, and stores a new response. Default:
   * neither.
   */
  readonly cache?: CacheOptions;
  /**
   * What the vendor is to keep of the prompt, so that later requests which begin alike cost less. `auto`: what a
   * history that only grows needs. Default: what the vendor caches by itself; the agentic loop's default is `auto` for
   * runs with tools.
   */
  readonly promptCache?: 'auto' | false | PromptCache;
  /** Called once for a request with `cache`, before its response. */
  readonly onCache?: (lookup: CacheLookup) => void;
  /**
   * Has the vendor make the input shorter instead of answering it. The output is what is to be sent in its place, and
   * only this provider can read it. Without fallbacks, and only for models with `supportsCompaction`.
   */
  readonly compact?: boolean;
  /** Who can read the compaction in `input`. Other providers refuse the request. */
  readonly compactedBy?: CompactionReader;
  /** Tools of the request that the vendor is to call itself, if it can. In runs only. */
  readonly hostedMcp?: HostedMcpTools;
  /** Tools that the model can find, some of which it has found. In runs only. */
  readonly findableTools?: FindableTools;
  /** Finds the responses in the background that an earlier process has requested for the same turn. */
  readonly backgroundTurn?: BackgroundTurn;
  /** Has the request answered in a batch of the vendor, if the vendor has them: without retries and fallbacks. */
  readonly batch?: BatchedCall;
  /** Called with what guardrails did to the call. */
  readonly onAnnotation?: (annotation: GuardrailAnnotation) => void;
  /** Where the call comes from, for the request log and the limits of API tokens. Default: the app's own code. */
  readonly origin?: CallOrigin;
  /** Called with what is left of the API token's rate limits, if it has any, before the call is sent or refused. */
  readonly onRateLimits?: (state: RateLimitState) => void;
}

export interface PromptCache {
  /**
   * Indexes in `input` of messages and results up to which the prompt is cached, at most four. Default: `auto`. Google
   * stores it under a name, and bills the storage.
   */
  readonly breakpoints?: readonly number[];
  /** The same for the requests of one conversation. Default: none; in runs, one that follows from its beginning. */
  readonly key?: string;
  /**
   * How long the vendor keeps it at least, or as long as it can: the shortest time that it offers and that is no
   * shorter. Default: `5m`.
   */
  readonly ttl?: '5m' | '30m' | '1h' | '12h';
}

export interface CacheOptions {
  /** Milliseconds: up to which age a stored response is used, and for how long a new one is stored. At most 30 days. */
  readonly ttl: number;
  /** Uses no stored response, and replaces it. Default: false. */
  readonly refresh?: boolean;
}

/** `bypass`: a request that is never answered from the cache. */
export interface CacheLookup {
  readonly result: 'hit' | 'miss' | 'bypass';
  /** The age of a hit, in milliseconds. */
  readonly age?: number;
}

/** The head of a vendor's response. */
export interface AnswerHead {
  readonly wire: WireName;
  readonly requestId?: string;
  /** The headers that the vendor's clients read, with lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** What the request could not carry, and what it approximated: as the response's `vendor` has them in the end. */
  readonly losses?: readonly Loss[];
  readonly warnings?: readonly string[];
}

/** Options after normalization: items, flat tools. Converters take these. */
export interface NormalizedOptions extends Omit<GenerateOptions, 'input' | 'tools' | 'model' | 'stop'> {
  readonly model: string;
  readonly input: readonly InputItem[];
  readonly tools?: readonly Tool[];
  readonly stop?: readonly string[];
}
