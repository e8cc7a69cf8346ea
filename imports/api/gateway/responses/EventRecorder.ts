/**
 * Records the frames of a background response while it is generated, in batches. Readers have only what is stored:
 * after a crash, every process has all that anyone has seen. The frame at an index has it as its sequence number.
 */
import type { ResponseEventStore, ResponseKey } from '../../../business/ai/domain/interfaces/ResponseEventStore';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { EVENT_OF_STATUS } from '../../../business/ai/infrastructure/converters/responses/stream/responsesEnding';
import type { FrameSink } from '../../http/FrameSink';

export interface EventRecorderPorts {
  readonly events: ResponseEventStore;
  /** Receives what the store throws. */
  readonly onError: (thrown: unknown) => void;
  /** This process. */
  readonly owner?: string | undefined;
  /** How many of the first frames another process has stored, which are the same ones. Default: none. */
  readonly stored?: number;
}

/** Milliseconds in which frames are collected for one write, after which readers have them. */
const COLLECTING_MS = 50;

const TERMINAL = /^event: response\.(?:completed|incomplete|failed)\n/;
const END_MARKER = 'data: [DONE]';
/** The frames of a stream before there is anything of the response. */
const OPENING = /^event: response\.(?:created|in_progress)\n/;

export class EventRecorder implements FrameSink {
  readonly hasStarted = true;
  private readonly key: ResponseKey;
  private readonly ports: EventRecorderPorts;
  private readonly frames: string[] = [];
  private readonly waiting = new Set<() => void>();
  private writing: Promise<void> = Promise.resolve();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private stored: number;
  private isStoring = true;
  private isClosed = false;

  constructor(key: ResponseKey, ports: EventRecorderPorts) {
    this.key = key;
    this.ports = ports;
    this.stored = ports.stored ?? 0;
  }

  /** No frame follows. */
  get hasEnded(): boolean {
    return this.isClosed || isTerminalFrame(this.frames[this.visible - 1]);
  }

  /** How many frames readers may have. */
  private get visible(): number {
    // A stream that is too long to store ends for those who read it now.
    return this.isStoring ? Math.min(this.stored, this.frames.length) : this.frames.length;
  }

  write(frames: readonly string[]): undefined {
    const events = frames.filter((frame) => !frame.startsWith(END_MARKER));
    if (events.length === 0) return;
    this.frames.push(...events);
    if (!this.isStoring) this.wakeReaders();
    this.timer ??= setTimeout(() => this.store(), COLLECTING_MS);
  }

  keepAlive(): void {
    // Each reader has a connection of its own.
  }

  end(): void {
    // `close` stores what is left.
  }

  fail(): void {
    // The frames of the failure have been written.
  }

  /** Ends a stream without a terminal event with the response. */
  conclude(body: JsonObject): void {
    if (!this.isClosed && !isTerminalFrame(this.frames.at(-1))) this.write([terminalFrame(body, this.frames.length)]);
  }

  /** Resolves when everything is stored. */
  async close(): Promise<void> {
    this.store();
    await this.writing;
    this.isClosed = true;
    this.wakeReaders();
  }

  after(number: number): readonly string[] {
    return this.frames.slice(number + 1, this.visible);
  }

  /** Resolves when there are frames after that number, or none will follow. @throws the signal's reason */
  async changed(number: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.hasEnded || this.visible > number + 1) return;
    let wake = (): void => undefined;
    await new Promise<void>((resolve) => {
      wake = resolve;
      this.waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
    this.waiting.delete(wake);
    signal.removeEventListener('abort', wake);
    signal.throwIfAborted();
  }

  private wakeReaders(): void {
    for (const resolve of this.waiting) resolve();
  }

  private store(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.writing = this.writing.then(() => this.storeNew());
  }

  private async storeNew(): Promise<void> {
    const first = this.stored;
    const frames = this.frames.slice(first);
    if (frames.length === 0 || !this.isStoring) return;
    try {
      // Otherwise the response was removed, or another process has ended its stream.
      this.isStoring = await this.ports.events.append(this.key, first, frames, this.ports.owner);
    } catch (thrown) {
      this.isStoring = false;
      this.ports.onError(thrown);
    }
    this.stored += frames.length;
    this.wakeReaders();
  }
}

/** Whether the frames have nothing of the response, so that another process can begin it again. */
export function isOpeningOnly(frames: readonly string[]): boolean {
  return frames.every((frame) => OPENING.test(frame));
}

export function isTerminalFrame(frame: string | undefined): boolean {
  return frame !== undefined && TERMINAL.test(frame);
}

/** @param body of a response that has ended */
export function terminalFrame(body: JsonObject, sequence_number: number): string {
  const type = EVENT_OF_STATUS[String(body.status)] ?? 'response.incomplete';
  return `event: ${type}\ndata: ${JSON.stringify({ response: body, type, sequence_number })}\n\n`;
}
