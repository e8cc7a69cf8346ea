/** Everything Bolide knows about one company's API, as data: one row per vendor, in a file of its own. */
import type { EmbeddingBatch } from '../../domain/types/EmbeddingTypes';
import type { VendorName, VendorQuirks, WireName } from '../../domain/types/VendorTypes';
import type { ModelRow } from './ModelRow';

export interface Vendor {
  readonly name: VendorName;
  /** For people: dashboards and error messages. */
  readonly label: string;
  /** The first is the default. */
  readonly wires: readonly [WireName, ...WireName[]];
  /**
   * Whether every endpoint of this vendor serves all `wires`, so that each call may choose one. Otherwise an account
   * uses the one wire that its settings name.
   */
  readonly servesAllWires?: true;
  /** The wires at an account's address, where they depend on it. Default: `wires`. */
  readonly wiresAt?: (address: VendorAddress) => readonly [WireName, ...WireName[]];
  /** For callers that name no model. */
  readonly defaultModel?: string;
  /** For requests for embeddings that name no model. */
  readonly embeddingModel?: string;
  /** The most that one request for embeddings may have. Absent: not known. */
  readonly embeddingBatch?: EmbeddingBatch;
  /** What people choose from where an account does not restrict its models: names valid in a request. */
  readonly currentModels?: readonly string[];
  /** In the form that the vendor's official SDK takes. Absent: the account's settings name one. */
  readonly baseURL?: string;
  /** Base URLs of endpoints that serve one region, with its name as the group. The price there may be another one. */
  readonly regionalURLs?: RegExp;
  /** An account's settings must name the base URL. */
  readonly requiresBaseURL?: true;
  /** Whether `previous_response_id` works on the Responses wire. */
  readonly storesResponses: boolean;
  /** Where the vendor makes histories shorter on request. Absent: nowhere. */
  readonly compaction?: VendorCompactionRow;
  /** How the vendor calls MCP servers itself. Absent: it does not. */
  readonly hostedMcp?: HostedMcpSupport;
  /** How the vendor departs from its wires. */
  readonly quirks: Partial<VendorQuirks>;
  /** Replaces `quirks` for accounts with a base URL of their own, where the API is not the vendor's service. */
  readonly quirksAtOtherBaseURLs?: Partial<VendorQuirks>;
  /** Further quirks, by the known hosts that have them. */
  readonly quirksByHost?: Readonly<Record<string, Partial<VendorQuirks>>>;
  /** Chat: the field in which the vendor streams reasoning. Default: `reasoning_content`. */
  readonly reasoningField?: 'reasoning';
  /** First match wins. */
  readonly models: readonly ModelRow[];
  /** Models of other vendors that are served here. Their capabilities carry over, their prices don't. */
  readonly foreignModels?: readonly ModelRow[];
  /** Names that mean this vendor even if the caller names no provider. Vendors that serve any model have none. */
  readonly modelPatterns: readonly RegExp[];
  /** The environment variables that set up an account. Absent: none do. */
  readonly variables?: VendorVariables;
}

export interface HostedMcpSupport {
  readonly wire: WireName;
  /** Whether it sends any headers to them; otherwise, it sends a bearer token only. */
  readonly sendsHeaders?: true;
  /** Set if the vendor's API lacks `require_approval`. */
  readonly omitsApproval?: true;
}

export interface VendorCompactionRow {
  readonly wire: WireName;
  /** Default: all models. */
  readonly models?: RegExp;
}

export interface VendorAddress {
  readonly baseURL?: string | undefined;
  readonly apiVersion?: string | undefined;
}

export interface VendorVariables {
  readonly key: string;
  /** The name by which the vendor's own SDK takes the key, if it is another. `key` precedes it. */
  readonly sdkKey?: string;
  readonly baseURL: string;
  /** The name by which the vendor's own SDK takes the base URL, if it is another. It is not read. */
  readonly sdkBaseURL?: string;
  readonly model?: string;
  readonly deployment?: string;
  readonly apiVersion?: string;
  /** Names the only wire to use, for vendors with several. */
  readonly wire?: string;
  /** Whether an account may have a base URL but no key. */
  readonly keyIsOptional?: true;
}
