/** What each wire's half of the simulator gives: its rules, its reading of a request, its writing of an answer. */
import type { JsonObject, VendorName } from '../../business/ai/domain/types/VendorTypes';
import type { Conversation } from '../model/Conversation';
import type { ModelTurn, TokenCount } from '../model/ModelTurn';
import type { Refusal } from '../validation/Refusal';
import type { ResponseArchive } from './responses/ResponseArchive';

export interface WireRequest {
  readonly vendor: VendorName;
  /** The model that was asked, wherever the wire names it: body, path or deployment. */
  readonly model: string;
  /** Has the shape of the wire's schema. */
  readonly body: JsonObject;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** What the vendor keeps of earlier answers. */
  readonly archive: ResponseArchive;
}

export interface Answer extends WireRequest {
  readonly conversation: Conversation;
  readonly turn: ModelTurn;
  readonly usage: TokenCount;
  /** Seconds since the epoch. */
  readonly createdAt: number;
}

/** One event of a stream. */
export interface SseEvent {
  readonly event?: string;
  /** JSON, or a wire's bare end marker. */
  readonly data: string;
}

export interface WireSimulator {
  /** Hosts that stumble before they look at the shape. */
  stumble?(request: WireRequest): Refusal | undefined;
  /** The body as the schema writes it, where the vendor reads more spellings than its schema has. */
  canonical?(body: JsonObject): JsonObject;
  /** The first rule of the wire that the request breaks. Its shape is checked before. */
  check(request: WireRequest): Refusal | undefined;
  /** Whether sealed reasoning in the request is this vendor's own and unedited. */
  checkSeals(request: WireRequest): Refusal | undefined;
  read(request: WireRequest): Conversation;
  /** The whole answer as one JSON body. */
  write(answer: Answer): JsonObject;
  stream(answer: Answer): readonly SseEvent[];
}
