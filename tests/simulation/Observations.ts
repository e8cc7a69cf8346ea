/** What an observer who sees everything has seen of a schedule. */
import type { LocalAgentEvent } from '../../imports/business/ai/domain/types/AgentEvents';
import type { Item } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { Decision } from './Decision';
import type { Speaker } from './ProcessHost';
import type { RunOutcome } from './processProgram';

export interface SeenEvent {
  readonly process: string;
  /** Milliseconds of virtual time. */
  readonly at: number;
  readonly event: LocalAgentEvent;
}

/** A tool had its effect on another service. */
export interface SeenEffect {
  readonly process: string;
  readonly at: number;
  readonly tool: string;
  readonly key: string;
}

/** The model has answered a request. */
export interface SeenAnswer {
  readonly executionId: string;
  readonly input: readonly Item[];
  /** Whom the model was told to be. */
  readonly speaker: Speaker;
}

/** A decision that was sent, and what came back. */
export interface SeenDecision {
  readonly executionId: string;
  readonly callId: string;
  readonly decision: Decision;
  /** The result, or `error <code>`; undefined if the process died before. */
  reply?: string;
}

export interface SeenCancellation {
  readonly executionId: string;
  /** When it was confirmed. */
  readonly at: number;
  /** It was left in the store for the run's owner. The owner itself confirms one before it stores it. */
  readonly isStored: boolean;
}

export class Observations {
  /** What breaks a promise at the moment it happens. */
  readonly problems: string[] = [];
  readonly events: SeenEvent[] = [];
  readonly effects: SeenEffect[] = [];
  /** By response id. */
  readonly answers = new Map<string, SeenAnswer>();
  readonly decisions: SeenDecision[] = [];
  readonly cancellations: SeenCancellation[] = [];
  /** Ids of messages of which the sender knows that their runs have them. */
  readonly accepted = new Set<string>();
  /** How the promises of runs settled. */
  readonly outcomes: {
    readonly executionId: string;
    readonly outcome: RunOutcome;
  }[] = [];
  /** Ids of runs of which a client knows that they were recorded. */
  readonly started = new Set<string>();

  eventsOf(executionId: string): readonly SeenEvent[] {
    return this.events.filter(({ event }) => event.executionId === executionId);
  }

  effectsOf(tool: string, executionId: string, callId: string): readonly SeenEffect[] {
    return this.effects.filter((effect) => effect.tool === tool && effect.key === `${executionId}:${callId}`);
  }

  decisionsOn(executionId: string, callId: string): readonly SeenDecision[] {
    return this.decisions.filter((seen) => seen.executionId === executionId && seen.callId === callId);
  }
}
