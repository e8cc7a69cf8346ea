/** Sends the frames of a stream as WebSocket messages: one JSON text per event, without an end marker. */
import type { WebSocket } from 'ws';
import type { FrameSink } from '../../../http/FrameSink';

/** Buffered bytes at which the stream is paused. */
const HIGH_WATER = 64 * 1024;

export class SocketSink implements FrameSink {
  private readonly socket: WebSocket;
  private readonly signal: AbortSignal;
  private readonly onMessage: ((message: string) => void) | undefined;
  private started = false;

  /**
   * @param signal fires when the client disconnects
   * @param onMessage called before each message is sent
   */
  constructor(socket: WebSocket, signal: AbortSignal, onMessage?: (message: string) => void) {
    this.socket = socket;
    this.signal = signal;
    this.onMessage = onMessage;
  }

  get hasStarted(): boolean {
    return this.started;
  }

  write(frames: readonly string[]): Promise<void> | undefined {
    const pending = frames.flatMap((frame) => this.send(frame) ?? []);
    return pending.length === 0 ? undefined : Promise.all(pending).then(() => undefined);
  }

  /** WebSockets have pings of their own. */
  keepAlive(): void {
    if (this.socket.readyState === this.socket.OPEN) this.socket.ping();
  }

  fail(): void {
    // The socket stays open for the next turn.
  }

  end(): void {
    // The socket stays open for the next turn.
  }

  private send(frame: string): Promise<void> | undefined {
    const message = frame.slice(frame.indexOf('data: ') + 'data: '.length).trimEnd();
    if (message === '[DONE]') return undefined;
    this.started = true;
    this.onMessage?.(message);
    if (this.socket.bufferedAmount < HIGH_WATER) {
      // Failures are reported by the socket's own events.
      this.socket.send(message, () => undefined);
      return undefined;
    }
    return new Promise((resolve, reject) => {
      this.socket.send(message, (failed) => {
        if (!failed) resolve();
        else reject(this.signal.aborted && this.signal.reason instanceof Error ? this.signal.reason : failed);
      });
    });
  }
}
