/**
 * The events of a response, read one by one or in the batches in which they arrived. A stream that changes another
 * one's events reads it in batches, so that an event costs a promise only at the consumer that wants single events.
 */
import type { EventBatch, EventBatches } from './EventBatches';
import { SingleEvents } from './SingleEvents';
import type { ResponseStreamEvent } from '../types/StreamEvents';

/** How one stream changes another. */
export interface EventStage {
  /** Adds what the event becomes to `out`. What it throws ends the stream, after the events that are in `out`. */
  push(event: ResponseStreamEvent, out: ResponseStreamEvent[]): void;
  /** The other stream has ended. What it throws ends this one. */
  end?(): void;
  /** @returns the error to throw */
  fail?(error: unknown): unknown;
  /** Called once: after the end, after a failure, or when the consumer leaves. */
  close?(): void;
}

type Step = IteratorResult<ResponseStreamEvent, undefined>;

const NO_EVENTS: EventBatch = [];
const END: IteratorReturnResult<undefined> = { value: undefined, done: true };

/** Can be read once. Nothing happens before the first read. */
export class EventStream implements AsyncIterableIterator<ResponseStreamEvent, undefined, undefined>, EventBatches {
  private readonly source: EventBatches;
  private batch: EventBatch = NO_EVENTS;
  /** The position of the next event in the batch. */
  private position = 0;
  /** The last of the steps that wait for their event, and their number. */
  private lastStep: Promise<Step> = Promise.resolve(END);
  private waitingSteps = 0;

  constructor(source: EventBatches) {
    this.source = source;
  }

  /** @returns the same stream if it already is one */
  static of(events: AsyncIterable<ResponseStreamEvent>): EventStream {
    return events instanceof EventStream ? events : new EventStream(new SingleEvents(events));
  }

  /**
   * @param open called by the first read
   * @param cancel called when the consumer leaves; should make an `open` that is under way fail
   */
  static opening(open: () => Promise<EventBatches>, cancel?: () => void): EventStream {
    return new EventStream(new OpeningBatches(open, cancel));
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    if (this.waitingSteps === 0 && this.position < this.batch.length) return Promise.resolve(this.take());
    const step = this.waitingSteps === 0 ? this.step() : this.lastStep.then(this.step, this.step);
    this.waitingSteps += 1;
    this.lastStep = step;
    return step;
  }

  async return(): Promise<Step> {
    await this.close();
    return END;
  }

  /** Begins with the rest of a batch of which events were read one by one. */
  read(): Promise<EventBatch | undefined> {
    if (this.position === this.batch.length) return this.source.read();
    const rest = this.position === 0 ? this.batch : this.batch.slice(this.position);
    this.setBatch(NO_EVENTS);
    return Promise.resolve(rest);
  }

  close(): Promise<void> {
    this.setBatch(NO_EVENTS);
    return this.source.close();
  }

  /** Puts events in front of those that are still to be read. */
  unread(events: EventBatch): void {
    this.setBatch([...events, ...this.batch.slice(this.position)]);
  }

  /** This stream must not be read otherwise. */
  through(stage: EventStage): EventStream {
    const unread = this.batch.slice(this.position);
    if (this.source instanceof StagedBatches) return new EventStream(this.source.with(stage, unread));
    return new EventStream(new StagedBatches(this.source, [stage], unread));
  }

  private readonly step = async (): Promise<Step> => {
    try {
      while (this.position === this.batch.length) {
        const batch = await this.source.read();
        if (batch === undefined) return END;
        this.setBatch(batch);
      }
      return this.take();
    } finally {
      this.waitingSteps -= 1;
    }
  };

  private take(): Step {
    const value = this.batch[this.position];
    this.position += 1;
    return value === undefined ? END : { value, done: false };
  }

  private setBatch(batch: EventBatch): void {
    this.batch = batch;
    this.position = 0;
  }
}

class OpeningBatches implements EventBatches {
  private readonly open: () => Promise<EventBatches>;
  private readonly cancel: (() => void) | undefined;
  private opening: Promise<EventBatches> | undefined;
  private opened: EventBatches | undefined;
  private isClosed = false;

  constructor(open: () => Promise<EventBatches>, cancel: (() => void) | undefined) {
    this.open = open;
    this.cancel = cancel;
  }

  read(): Promise<EventBatch | undefined> {
    return this.opened?.read() ?? this.openAndRead();
  }

  private async openAndRead(): Promise<EventBatch | undefined> {
    // An attempt that has failed is the end.
    if (this.isClosed || this.opening !== undefined) return undefined;
    this.opening = this.open();
    const opened = await this.opening;
    if (this.hasClosed()) return undefined;
    this.opened = opened;
    return opened.read();
  }

  /** While the caller waited. */
  private hasClosed(): boolean {
    return this.isClosed;
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.cancel?.();
    // The pending read reports the failure of the attempt.
    const opened = this.opened ?? (await this.opening?.catch(() => undefined));
    await opened?.close();
  }
}

interface Failure {
  readonly error: unknown;
  /** The number of the stage that threw the error, or of the first one, which reads from the source that did. */
  readonly stage: number;
}

/** All stages of a stream in one object, so that a batch is awaited once for all of them. */
class StagedBatches implements EventBatches {
  private readonly source: EventBatches;
  private readonly stages: readonly EventStage[];
  /** Events that only the last stage has not seen. */
  private unread: EventBatch;
  /** To be thrown once the events before it are read. */
  private failure: Failure | undefined;
  private isDone = false;

  constructor(source: EventBatches, stages: readonly EventStage[], unread: EventBatch) {
    this.source = source;
    this.stages = stages;
    this.unread = unread;
  }

  /** @param unread events that have passed the present stages */
  with(stage: EventStage, unread: EventBatch): StagedBatches {
    if (this.unread.length > 0 || this.isDone) return new StagedBatches(this, [stage], unread);
    const staged = new StagedBatches(this.source, [...this.stages, stage], unread);
    staged.failure = this.failure;
    return staged;
  }

  async read(): Promise<EventBatch | undefined> {
    while (!this.isDone) {
      let events: EventBatch;
      if (this.unread.length > 0) events = this.takeUnread();
      else if (this.failure !== undefined) return this.fail(this.failure);
      else {
        let batch: EventBatch | undefined;
        try {
          batch = await this.source.read();
        } catch (error) {
          this.failure = { error, stage: 0 };
          continue;
        }
        if (this.hasClosed()) break;
        events = batch === undefined ? this.end() : this.pass(batch, 0);
      }
      if (events.length > 0) return events;
    }
    return undefined;
  }

  async close(): Promise<void> {
    if (this.isDone) return;
    this.isDone = true;
    try {
      await this.source.close();
    } finally {
      this.closeStages();
    }
  }

  /** While the caller waited. */
  private hasClosed(): boolean {
    return this.isDone;
  }

  private takeUnread(): EventBatch {
    const { unread } = this;
    this.unread = NO_EVENTS;
    return this.pass(unread, this.stages.length - 1);
  }

  private pass(batch: EventBatch, from: number): EventBatch {
    let events = batch;
    for (let number = from; number < this.stages.length; number += 1) {
      const out: ResponseStreamEvent[] = [];
      try {
        for (const event of events) this.stages[number]?.push(event, out);
      } catch (error) {
        this.failure = { error, stage: number };
      }
      events = out;
    }
    return events;
  }

  private end(): EventBatch {
    for (const [number, stage] of this.stages.entries()) {
      try {
        stage.end?.();
      } catch (error) {
        this.failure = { error, stage: number };
        return NO_EVENTS;
      }
    }
    this.isDone = true;
    this.closeStages();
    return NO_EVENTS;
  }

  private async fail({ error, stage: first }: Failure): Promise<never> {
    const reported = this.stages
      .slice(first)
      .reduce((failure, stage) => (stage.fail === undefined ? failure : stage.fail(failure)), error);
    await this.close();
    throw reported;
  }

  private closeStages(): void {
    for (const stage of this.stages) stage.close?.();
  }
}
