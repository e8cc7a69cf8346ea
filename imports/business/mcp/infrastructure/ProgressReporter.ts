/** A server's progress notifications as the call's progress: each is recorded, so a flood of them is thinned out. */
import type { Progress } from '@modelcontextprotocol/client';
import type { ToolCallContext } from '../../ai/domain/interfaces/IToolExecutor';

/** Milliseconds between two reports. */
const INTERVAL_MS = 250;

export class ProgressReporter {
  private readonly send: ToolCallContext['progress'];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private latest: Progress | undefined;
  private hasEnded = false;

  constructor(send: ToolCallContext['progress']) {
    this.send = send;
  }

  /** Reports at once, or the latest of what came meanwhile when the interval is over. */
  report(progress: Progress): void {
    if (this.hasEnded) return;
    this.latest = progress;
    if (this.timer === undefined) this.flush();
  }

  end(): void {
    this.hasEnded = true;
    clearTimeout(this.timer);
  }

  private flush(): void {
    const { latest } = this;
    this.timer = undefined;
    if (latest === undefined) return;
    this.latest = undefined;
    const { progress, total, message } = latest;
    // Without a total, how much is left is not known.
    this.send(total === undefined || total <= 0 ? 0 : progress / total, message);
    this.timer = setTimeout(() => this.flush(), INTERVAL_MS);
    this.timer.unref();
  }
}
