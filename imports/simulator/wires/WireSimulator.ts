/** The simulator's part for one wire: its rules, and how it reads requests and writes responses. */
import type { JsonObject, VendorName } from '../../business/ai/domain/types/VendorTypes';
import type { Conversation } from '../model/Conversation';
import type { ModelTurn, TokenCount } from '../model/ModelTurn';
import type { Rejection } from '../validation/Rejection';
import type { ResponseArchive } from './responses/ResponseArchive';

export interface WireRequest {
  readonly vendor: VendorName;
  /** The requested model, from wherever the wire names it: body, path or deployment. */
  readonly model: string;
  /** Valid according to the wire's schema. */
  readonly body: JsonObject;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The vendor's stored responses. */
  readonly archive: ResponseArchive;
}

/** A request with the turn that responds to it. */
export interface TurnContext extends WireRequest {
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
  /** Rejects what fails at some vendors before they validate the schema. */
  preflight?(request: WireRequest): Rejection | undefined;
  /** Normalizes the spellings that the vendor accepts to those of its schema. */
  normalize?(body: JsonObject): JsonObject;
  /** The rejection of the first rule of the wire that the request violates. The schema is checked before. */
  check(request: WireRequest): Rejection | undefined;
  /** Rejects reasoning in the request that this vendor did not sign, or that was modified. */
  checkSignatures(request: WireRequest): Rejection | undefined;
  read(request: WireRequest): Conversation;
  /** The complete response as one JSON body. */
  write(context: TurnContext): JsonObject;
  stream(context: TurnContext): readonly SseEvent[];
}
