/**
 * The events of a run, for any number of readers, each at its own pace and from the first event. The run never waits
 * for a reader. A reader that keeps up receives every event as it was emitted; for one that is behind, adjacent
 * fragments of one text are joined, and of the progress reports of a call only the latest of those in between remains.
 * Every other event is delivered as it is, in order. What a run below has written is left out for readers that come
 * after its response, which has all of it. What is buffered is therefore bounded by the text and the calls of the run
 * and of those below it, whose events stand between its own.
 */
import { isDelta, textOfDelta } from '../business/ai/domain/types/AgentEvents';
import type {
  AgentEventOf,
  CallStep,
  DeltaEvent,
  FamilyEvent,
  LocalAgentEvent,
} from '../business/ai/domain/types/AgentEvents';

type Progress = LocalAgentEvent<AgentEventOf<'tool:progress'>>;

type Path = readonly CallStep[];

/** `path` leads to the run below whose entry it is. Absent: the run's own. */
type Entry = { readonly path: Path | undefined } & (
  | /** Adjacent fragments of one text. `last` is the latest of them. */
    { readonly kind: 'delta'; last: DeltaEvent; readonly parts: string[] }
  /** Adjacent progress reports: the latest of each call, oldest first. */
  | { readonly kind: 'progress'; readonly latest: Map<string, Progress> }
  | { readonly kind: 'event'; readonly event: LocalAgentEvent }
  /** What a run below had written. */
  | { readonly kind: 'forgotten' }
);

const FORGOTTEN: Entry = { kind: 'forgotten', path: [] };

export class RunEventBuffer {
  private readonly entries: Entry[] = [];
  /** The entries of what the model calls in progress of runs below have written. */
  private readonly written = new Map<Path, number[]>();
  /** The entries of what runs below have written up to another one, oldest first, until all readers are past it. */
  private readonly superseded: { readonly at: number; readonly written: readonly number[] }[] = [];
  private readonly readers = new Set<{ wake(): void; readonly place: number }>();
  private ending: { readonly error?: unknown } | undefined;
  /** The number of entries up to the run's result. Undefined before it has one. */
  private answerLength: number | undefined;

  /** @param path the calls that lead to the event's run, if that is one below: the same list for all of its events */
  append(event: LocalAgentEvent, path?: Path): void {
    const previous = this.entries.at(-1);
    const last = previous?.path === path ? previous : undefined;
    if (isDelta(event)) {
      if (last?.kind === 'delta' && textOfDelta(last.last) === textOfDelta(event)) {
        last.last = event;
        last.parts.push(event.delta);
      } else {
        if (path !== undefined) this.noteWritten(path);
        this.entries.push({ kind: 'delta', path, last: event, parts: [event.delta] });
      }
    } else if (event.type === 'tool:progress') {
      if (last?.kind === 'progress') {
        last.latest.delete(event.callId);
        last.latest.set(event.callId, event);
      } else this.entries.push({ kind: 'progress', path, latest: new Map([[event.callId, event]]) });
    } else this.entries.push({ kind: 'event', path, event });
    if (path !== undefined && event.type === 'llm:response') this.supersede(path);
    this.wakeReaders();
    this.forgetSuperseded();
  }

  /** Ends the text, but not the events, after the given response. */
  endText(responseId: string): void {
    const at = this.entries.findLastIndex(
      (entry) =>
        entry.path === undefined &&
        entry.kind === 'event' &&
        entry.event.type === 'llm:response' &&
        entry.event.response.id === responseId,
    );
    this.answerLength ??= at === -1 ? this.entries.length : at + 1;
    this.wakeReaders();
  }

  /** @param error thrown to every reader that has read everything */
  end(error?: unknown): void {
    this.ending ??= error === undefined ? {} : { error };
    this.wakeReaders();
  }

  /** The run's own events. */
  events(): AsyncIterableIterator<LocalAgentEvent, undefined> {
    return this.read(new EventCursor());
  }

  /** The run's events and those of the runs below it. */
  familyEvents(): AsyncIterableIterator<FamilyEvent, undefined> {
    return this.read(new FamilyCursor());
  }

  /** The text deltas up to the run's result. */
  text(): AsyncIterableIterator<string, undefined> {
    return this.read(new TextCursor());
  }

  private noteWritten(path: Path): void {
    const written = this.written.get(path);
    if (written === undefined) this.written.set(path, [this.entries.length]);
    else written.push(this.entries.length);
  }

  private supersede(path: Path): void {
    this.superseded.push({ at: this.entries.length, written: this.written.get(path) ?? [] });
    this.written.delete(path);
  }

  private forgetSuperseded(): void {
    if (this.superseded.length === 0) return;
    const place = Math.min(...[...this.readers].map((reader) => reader.place));
    const kept = this.superseded.findIndex(({ at }) => at > place);
    for (const { written } of this.superseded.splice(0, kept === -1 ? Infinity : kept))
      for (const index of written) this.entries[index] = FORGOTTEN;
  }

  private read<T>(cursor: Cursor<T>): AsyncIterableIterator<T, undefined> {
    const reader = new Reader<T>(
      () => {
        const value = cursor.take(this.entries, cursor.isText ? this.answerLength : undefined);
        if (value !== undefined) {
          this.forgetSuperseded();
          return { value, done: false };
        }
        if (cursor.isText && this.answerLength !== undefined) return DONE;
        if (this.ending === undefined) return undefined;
        if ('error' in this.ending) throw this.ending.error;
        return DONE;
      },
      () => {
        this.readers.delete(reader);
        this.forgetSuperseded();
      },
      cursor,
    );
    this.readers.add(reader);
    return reader;
  }

  private wakeReaders(): void {
    for (const reader of this.readers) reader.wake();
  }
}

const DONE = { value: undefined, done: true } as const;

interface Cursor<T> {
  readonly isText: boolean;
  /** The index of the entry of a run below that it reads next. Infinity: it reads none. */
  readonly place: number;
  /** The next value, or undefined if there is none yet. @param end the number of entries that may be read */
  take(entries: readonly Entry[], end?: number): T | undefined;
}

class EventCursor implements Cursor<LocalAgentEvent> {
  readonly isText = false;
  private readonly isFamily: boolean;
  private index = 0;
  /** The parts of the current entry that were read. */
  private part = 0;
  /** The sequence number of the last event of the current entry that was read. */
  private seq = 0;

  /** @param isFamily whether the events of runs below are read, too */
  constructor(isFamily = false) {
    this.isFamily = isFamily;
  }

  take(entries: readonly Entry[]): LocalAgentEvent | undefined {
    for (;;) {
      const entry = entries[this.index];
      if (entry === undefined) return undefined;
      const event = this.readEntry(entry);
      if (event !== undefined) {
        this.seq = event.seq;
        return event;
      }
      if (this.index === entries.length - 1 && entry.kind !== 'event') return undefined;
      this.index += 1;
      this.part = 0;
      this.seq = 0;
    }
  }

  get place(): number {
    return this.isFamily ? this.index : Infinity;
  }

  /** The path of the event that was read last. */
  pathIn(entries: readonly Entry[]): Path | undefined {
    return entries[this.index]?.path;
  }

  private readEntry(entry: Entry): LocalAgentEvent | undefined {
    if (entry.path !== undefined && !this.isFamily) return undefined;
    switch (entry.kind) {
      case 'event':
        return this.part++ === 0 ? entry.event : undefined;
      case 'progress':
        return [...entry.latest.values()].find(({ seq }) => seq > this.seq);
      case 'delta': {
        const unread = entry.parts.length - this.part;
        if (unread === 0) return undefined;
        const delta = unread === 1 ? entry.last.delta : entry.parts.slice(this.part).join('');
        this.part = entry.parts.length;
        return unread === 1 ? entry.last : { ...entry.last, delta };
      }
      case 'forgotten':
        return undefined;
    }
  }
}

class FamilyCursor implements Cursor<FamilyEvent> {
  readonly isText = false;
  private readonly events = new EventCursor(true);

  get place(): number {
    return this.events.place;
  }

  take(entries: readonly Entry[]): FamilyEvent | undefined {
    const event = this.events.take(entries);
    const path = this.events.pathIn(entries);
    return event === undefined || path === undefined ? event : { ...event, path };
  }
}

class TextCursor implements Cursor<string> {
  readonly isText = true;
  readonly place = Infinity;
  private index = 0;
  private part = 0;

  take(entries: readonly Entry[], end = entries.length): string | undefined {
    for (; this.index < end; this.index += 1, this.part = 0) {
      const entry = entries[this.index];
      const isOwnText = entry?.kind === 'delta' && entry.path === undefined && textOfDelta(entry.last) === 'text';
      if (isOwnText && this.part < entry.parts.length) {
        const text = entry.parts.length - this.part === 1 ? entry.last.delta : entry.parts.slice(this.part).join('');
        this.part = entry.parts.length;
        return text;
      }
      // The last entry may still grow.
      if (this.index === entries.length - 1 && entry?.kind === 'delta') return undefined;
    }
    return undefined;
  }
}

interface Request<T> {
  readonly resolve: (result: IteratorResult<T, undefined>) => void;
  readonly reject: (error: unknown) => void;
}

/** Requests may overlap, and are answered in order. Leaving ends this reader only, at once. */
class Reader<T> implements AsyncIterableIterator<T, undefined> {
  private readonly take: () => IteratorResult<T, undefined> | undefined;
  private readonly onLeave: () => void;
  private readonly cursor: { readonly place: number };
  private readonly requests: Request<T>[] = [];
  private hasLeft = false;

  /** @param take the next result, or undefined if there is none yet; throws the error that ended the run */
  constructor(take: () => IteratorResult<T, undefined> | undefined, onLeave: () => void, cursor: Cursor<T>) {
    this.take = take;
    this.cursor = cursor;
    this.onLeave = onLeave;
  }

  get place(): number {
    return this.cursor.place;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<T, undefined>> {
    return new Promise((resolve, reject) => {
      this.requests.push({ resolve, reject });
      this.wake();
    });
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.leave();
    this.wake();
    return Promise.resolve(DONE);
  }

  wake(): void {
    for (let request = this.requests[0]; request !== undefined; request = this.requests[0]) {
      try {
        const result = this.hasLeft ? DONE : this.take();
        if (result === undefined) return;
        if (result.done === true) this.leave();
        this.requests.shift();
        request.resolve(result);
      } catch (error) {
        // Thrown once; afterwards there is nothing more to read.
        this.leave();
        this.requests.shift();
        request.reject(error);
      }
    }
  }

  private leave(): void {
    this.hasLeft = true;
    this.onLeave();
  }
}
