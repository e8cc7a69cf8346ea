/** What a run tells: one union that feeds stores, streams and the dashboard. */
import type { ToolCallError, ToolCallState } from '../entities/Tool';
import type { EndedRun, ErrorCode } from '../errors/LLMErrors';
import type { LLMResponse, Usage } from './ResponsesAPITypes';

interface CallNamed {
  /** The call's id within its run. */
  readonly callId: string;
  readonly name: string;
}

/** Events without the three fields that every one carries. */
export type AgentEventBody =
  | {
      readonly type: 'run:started';
      readonly userId: string;
      readonly model: string;
      /** As on the run's record, where it has one. */
      readonly providerId?: string;
      readonly title?: string;
      readonly createdAt?: number;
    }
  | { readonly type: 'iteration:start'; readonly iteration: number }
  | { readonly type: 'llm:delta'; readonly kind: 'text' | 'reasoning' | 'refusal'; readonly delta: string }
  | { readonly type: 'llm:response'; readonly iteration: number; readonly response: LLMResponse }
  | ({
      readonly type: 'tool:pending';
      readonly call_id: string;
      readonly arguments: string;
      readonly blocking: boolean;
    } & CallNamed)
  | ({
      readonly type: 'tool:approval_required';
      readonly arguments: string;
      readonly argumentsHash: string;
    } & CallNamed)
  | ({ readonly type: 'tool:executing' } & CallNamed)
  | ({ readonly type: 'tool:needs_review' } & CallNamed)
  | ({ readonly type: 'tool:progress'; readonly fraction: number; readonly note?: string } & CallNamed)
  | ({ readonly type: 'tool:completed'; readonly result: string; readonly executionTime: number } & CallNamed)
  | ({ readonly type: 'tool:failed'; readonly error: ToolCallError; readonly executionTime: number } & CallNamed)
  | ({ readonly type: 'tool:timeout'; readonly error: ToolCallError; readonly executionTime: number } & CallNamed)
  | ({ readonly type: 'tool:cancelled'; readonly error: ToolCallError } & CallNamed)
  /** A tool gave something after its time was up; it is kept, never delivered. */
  | ({ readonly type: 'tool:late'; readonly result: string } & CallNamed)
  /** An acknowledged call settled. */
  | ({ readonly type: 'result:arrived'; readonly state: ToolCallState } & CallNamed)
  | { readonly type: 'nonblocking:result'; readonly callIds: readonly string[] }
  | { readonly type: 'nonblocking:llm_response'; readonly callIds: readonly string[]; readonly response: LLMResponse }
  | {
      readonly type: 'nonblocking:error';
      readonly callIds: readonly string[];
      readonly error: { readonly code: ErrorCode; readonly message: string };
    }
  | {
      readonly type: 'run:completed';
      readonly response: LLMResponse;
      readonly usage: Usage;
      readonly iterations: number;
    }
  | {
      readonly type: 'run:failed';
      readonly error: { readonly code: ErrorCode; readonly message: string };
      readonly usage: EndedRun['usage'];
    }
  | { readonly type: 'run:cancelled'; readonly usage: EndedRun['usage'] };

export type AgentEvent = AgentEventBody & {
  readonly executionId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Rises by one per run, from 1. */
  readonly seq: number;
};

export type AgentEventType = AgentEventBody['type'];
export type AgentEventOf<T extends AgentEventType> = Extract<AgentEvent, { readonly type: T }>;
