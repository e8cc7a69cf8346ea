/** What a test or a demo holds of the running simulator. */
import type { EventEmitter } from 'eventemitter3';
import type { VendorName } from '../business/ai/domain/types/VendorTypes';
import type { RuleModel } from './model/RuleModel';
import type { PlayedExchange, PlayOptions } from './exchange/PlayedExchange';
import type { RecordedRequest } from './RecordedRequest';
import type { ScriptedReply } from './ScriptedReply';

export type { RecordedRequest };

export interface SimulatorEvents {
  /** The request is read whole; its answer has not begun. */
  request: [RecordedRequest];
  /** The client left, or a fault broke the connection, before the end of the answer. */
  abort: [RecordedRequest];
  finish: [RecordedRequest];
}

export interface SimulatorOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Who answers what neither a script nor a recording does. */
  readonly model?: RuleModel;
  /** Cases to play from the start, in order. */
  readonly recordings?: PlayOptions & { readonly cases: readonly string[] };
  /**
   * Takes reasoning that the real vendors sealed, as recorded requests carry it. Default false: only the
   * simulator's own seals are good.
   */
  readonly acceptForeignSeals?: boolean;
  /** How many requests and stored responses are kept; the oldest go first. Default 1,000. */
  readonly remember?: number;
  /** Milliseconds between two events of a stream. Default 0. */
  readonly chunkDelayMs?: number;
}

export interface Simulator {
  readonly url: string;
  /** What each vendor's SDK takes as its base URL. */
  baseURL(vendor: VendorName): string;
  readonly requests: readonly RecordedRequest[];
  readonly events: EventEmitter<SimulatorEvents>;
  /** The next answers, in order, for any vendor or for the one that a reply names. */
  enqueue(...replies: readonly ScriptedReply[]): void;
  /** Serves a recorded case's answers, byte for byte, to the next requests on its wire. */
  playRecording(caseId: string, options: PlayOptions): readonly PlayedExchange[];
  /** Each call gives the next request in the order of arrival, waiting for it when it has not come yet. */
  nextRequest(): Promise<RecordedRequest>;
  /** Each call gives the next request whose answer broke off. */
  nextAbort(): Promise<RecordedRequest>;
  /** Each call gives the next request whose answer was sent whole. */
  nextFinish(): Promise<RecordedRequest>;
  /**
   * @throws Error when replies or recorded exchanges are left over, or a request found none although the test
   * scripts its answers.
   */
  assertDone(): void;
  close(): Promise<void>;
}
