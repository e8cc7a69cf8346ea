/**
 * Publishes every event of every run to all sinks. Consecutive fragments of one text are merged, so that sinks receive
 * a few per second however fast the model writes. A timer runs only while a delta is buffered.
 */
import { consoleLogger } from '../../../../../log/consoleLogger';
import { isDelta, textOfDelta } from '../../../domain/types/AgentEvents';
import type { AgentEvent, DeltaEvent } from '../../../domain/types/AgentEvents';
import type { Logger } from '../../../domain/interfaces/Logger';
import { runDetached } from '../shared/runDetached';

export type RunEventSink = (event: AgentEvent) => void;

export interface RunEventBusOptions {
  readonly sinks: readonly RunEventSink[];
  /** How many milliseconds a delta is buffered; default 150. */
  readonly flushAfterMs?: number;
  /** Default: the console. */
  readonly logger?: Pick<Logger, 'error'>;
}

export class RunEventBus {
  private readonly sinks: readonly RunEventSink[];
  private readonly flushAfterMs: number;
  private readonly logger: Pick<Logger, 'error'>;
  /** Buffered deltas by run, oldest first. */
  private readonly buffered = new Map<string, DeltaEvent>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor({ sinks, flushAfterMs = 150, logger = consoleLogger }: RunEventBusOptions) {
    this.sinks = sinks;
    this.flushAfterMs = flushAfterMs;
    this.logger = logger;
  }

  readonly publish = (event: AgentEvent): void => {
    if (!isDelta(event)) {
      this.flush(event.executionId);
      this.dispatch(event);
      return;
    }
    const previous = this.buffered.get(event.executionId);
    const isContinued = previous !== undefined && textOfDelta(previous) === textOfDelta(event);
    if (!isContinued) this.flush(event.executionId);
    // A merged delta has the `seq` of its last part, so that later events are recognised as newer.
    this.buffered.set(event.executionId, isContinued ? { ...event, delta: previous.delta + event.delta } : event);
    this.timer ??= setTimeout(() => this.flushAll(), this.flushAfterMs);
  };

  /** Dispatches a run's buffered delta, for example before a new subscriber reads the run. */
  flush(executionId: string): void {
    const delta = this.buffered.get(executionId);
    if (delta === undefined) return;
    this.buffered.delete(executionId);
    if (this.buffered.size === 0) this.stopTimer();
    this.dispatch(delta);
  }

  flushAll(): void {
    this.stopTimer();
    for (const executionId of [...this.buffered.keys()]) this.flush(executionId);
  }

  private stopTimer(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  /** Detached, because readers flush, too, and sinks write. */
  private dispatch(event: AgentEvent): void {
    for (const sink of this.sinks) {
      try {
        runDetached(() => sink(event));
      } catch (error) {
        this.logger.error('A sink of run events threw.', error);
      }
    }
  }
}
