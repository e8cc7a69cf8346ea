/**
 * Where every event of every run goes, once, and from there to whoever keeps or shows it. Pieces of live text are
 * told together: a few times a second for each run, however fast a model writes. There is a timer only while a
 * piece waits.
 */
import type { AgentEvent, AgentEventOf } from '../../../domain/types/AgentEvents';
import type { Logger } from '../../../domain/interfaces/Logger';

export type RunEventSink = (event: AgentEvent) => void;

export interface RunFeedOptions {
  readonly sinks: readonly RunEventSink[];
  /** Milliseconds that a piece of live text waits for the next one; default 150. */
  readonly flushAfter?: number;
  /** Default: the console. */
  readonly logger?: Pick<Logger, 'error'>;
}

type Delta = AgentEventOf<'llm:delta'>;

export class RunEventBus {
  private readonly sinks: readonly RunEventSink[];
  private readonly flushAfter: number;
  private readonly logger: Pick<Logger, 'error'>;
  /** By run, in the order in which they began to wait. */
  private readonly waiting = new Map<string, Delta>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor({ sinks, flushAfter = 150, logger = console }: RunFeedOptions) {
    this.sinks = sinks;
    this.flushAfter = flushAfter;
    this.logger = logger;
  }

  readonly publish = (event: AgentEvent): void => {
    if (event.type !== 'llm:delta') {
      this.flush(event.executionId);
      this.dispatch(event);
      return;
    }
    const before = this.waiting.get(event.executionId);
    if (before !== undefined && before.kind !== event.kind) this.flush(event.executionId);
    const isSame = before?.kind === event.kind;
    // Joined pieces bear the number of the last: what comes after it is new.
    this.waiting.set(event.executionId, isSame ? { ...event, delta: before.delta + event.delta } : event);
    this.timer ??= setTimeout(() => this.flushAll(), this.flushAfter);
  };

  /** Tells what waits of a run, for whoever reads it now. */
  flush(executionId: string): void {
    const delta = this.waiting.get(executionId);
    if (delta === undefined) return;
    this.waiting.delete(executionId);
    if (this.waiting.size === 0) this.stopTimer();
    this.dispatch(delta);
  }

  flushAll(): void {
    this.stopTimer();
    for (const executionId of [...this.waiting.keys()]) this.flush(executionId);
  }

  private stopTimer(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private dispatch(event: AgentEvent): void {
    for (const sink of this.sinks) {
      try {
        sink(event);
      } catch (error) {
        this.logger.error('a listener to the events of runs failed', error);
      }
    }
  }
}
