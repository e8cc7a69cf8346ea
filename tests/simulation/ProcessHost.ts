/** What a simulated process has of the world outside: services that it reaches by the network, and who observes it. */
import type { ErrorCode } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { RunStore } from '../../imports/business/ai/domain/interfaces/RunStore';
import type { DocumentCollection, StoredDocument } from '../../imports/database/DocumentCollection';
import type { LocalAgentEvent } from '../../imports/business/ai/domain/types/AgentEvents';
import type { Item, LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { Plan } from './Plan';

/** Errors do not survive the network as such: each process has its own classes. */
export type Reply =
  | { readonly value: unknown }
  | {
      readonly failure: { readonly code: ErrorCode; readonly message: string };
    };

export type StoreMethod = keyof RunStore;
export type CollectionMethod = Exclude<keyof DocumentCollection<StoredDocument>, 'version'>;

/** The model and the instructions of an agent. */
export interface Speaker {
  readonly model: string;
  readonly instructions: string;
}

export interface ProcessHost {
  readonly plan: Pick<Plan, 'lease' | 'heartbeat' | 'store'>;
  /** With a memory store, which is elsewhere. */
  callStore(method: StoreMethod, args: readonly unknown[]): Promise<Reply>;
  /** Likewise. */
  callSignals(method: string, args: readonly unknown[]): Promise<Reply>;
  /** Likewise. */
  callMessages(method: string, args: readonly unknown[]): Promise<Reply>;
  /** With a database. */
  callCollection(collection: string, method: CollectionMethod, args: readonly unknown[]): Promise<Reply>;
  /** @param speaker whom the model is told to be */
  callModel(executionId: string, input: readonly Item[], speaker: Speaker): Promise<LLMResponse>;
  /** A tool runs under an idempotency key, and has its effect elsewhere. @returns its result */
  act(tool: string, key: string, result: string): Promise<string>;
  onEvent(event: LocalAgentEvent): void;
  onLog(level: 'warn' | 'error', message: string, error: unknown): void;
}
