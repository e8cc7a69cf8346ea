/** The interface of a running simulator for tests and demos. */
import type { EventEmitter } from 'eventemitter3';
import type { BatchBehaviour } from './endpoints/BatchBehaviour';
import type { VendorName } from '../business/ai/domain/types/VendorTypes';
import type { RuleModel } from './model/RuleModel';
import type { RecordedExchange, PlaybackOptions } from './exchange/RecordedExchange';
import type { RecordedRequest } from './RecordedRequest';
import type { ScriptedResponse } from './ScriptedResponse';

export type { RecordedRequest };

export interface SimulatorEvents {
  /** The request was read completely; its response has not started. */
  request: [RecordedRequest];
  /** The client left, or a fault broke the connection, before the end of the response. */
  abort: [RecordedRequest];
  finish: [RecordedRequest];
}

export interface SimulatorOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Responds where neither a script nor a recording does. */
  readonly model?: RuleModel;
  /** Cases to play from the start, in order. */
  readonly recordings?: PlaybackOptions & { readonly cases: readonly string[] };
  /**
   * Accepts reasoning that the real vendors signed, and cached contents that they store, as recorded requests carry
   * them. Default false: only the simulator's own are valid.
   */
  readonly acceptForeignSignatures?: boolean;
  /** The number of requests and stored responses that are retained; the oldest are dropped first. Default 1,000. */
  readonly historyLimit?: number;
  /** Tokens of input that every model accepts, by the simulator's own count. Default: any number. */
  readonly contextWindow?: number;
  /** Counts what the vendor's cache would have of each prompt in its usage. Default false: nothing is cached. */
  readonly cachesPrompts?: boolean;
  /** How often a response in the background is still unfinished when it is read. Default 0. */
  readonly backgroundReads?: number;
  /** How batches proceed. Default: they have ended when they are read first. */
  readonly batches?: BatchBehaviour;
  /** Milliseconds between two events of a stream. Default 0. */
  readonly chunkDelayMs?: number;
}

export interface Simulator {
  readonly url: string;
  /** The base URL for the vendor's SDK. */
  baseURL(vendor: VendorName): string;
  readonly requests: readonly RecordedRequest[];
  readonly events: EventEmitter<SimulatorEvents>;
  /** Scripts the next responses, in order, for any vendor or for the one that a response names. */
  enqueue(...responses: readonly ScriptedResponse[]): void;
  /** Serves the responses of a recorded case, byte for byte, to the next requests on its wire. */
  playRecording(caseId: string, options: PlaybackOptions): readonly RecordedExchange[];
  /** Each call resolves to the next request in the order of arrival, waiting for it if necessary. */
  nextRequest(): Promise<RecordedRequest>;
  /** Each call resolves to the next request whose response was aborted. */
  nextAbort(): Promise<RecordedRequest>;
  /** Each call resolves to the next request whose response was sent completely. */
  nextFinish(): Promise<RecordedRequest>;
  /**
   * @throws Error when scripted responses or recorded exchanges are left over, or when a request found none although
   * the test uses a script
   */
  assertDone(): void;
  close(): Promise<void>;
}
