/**
 * The work of a process's runs that a shutdown waits for: their steps, with model calls, and the tools that run. While
 * the process drains, nothing new begins: a run stops before its next turn, and a tool that has not started stays
 * pending.
 */

export interface RunningTool {
  /** The time is over: asks the tool to stop. */
  interrupt(): void;
}

/** Milliseconds that interrupted tools have to stop. */
const INTERRUPTION_MS = 1_000;

export class WorkInProgress {
  private readonly steps = new Set<object>();
  private readonly tools = new Set<RunningTool>();
  private draining = false;
  private notify = (): void => undefined;

  get isDraining(): boolean {
    return this.draining;
  }

  /** @param run takes a step */
  beginStep(run: object): void {
    this.steps.add(run);
  }

  /** Safe to call again, as is `endTool`. */
  endStep(run: object): void {
    this.steps.delete(run);
    this.notify();
  }

  beginTool(tool: RunningTool): void {
    this.tools.add(tool);
  }

  endTool(tool: RunningTool): void {
    this.tools.delete(tool);
    this.notify();
  }

  /** Lets nothing new begin. */
  startDraining(): void {
    this.draining = true;
  }

  /**
   * Lets nothing new begin. Resolves when everything in progress has ended.
   * @param over when this fires, tools are interrupted and awaited for a second more, and model calls are left
   * @param onProgress called at the beginning, and whenever something has ended, before `over` fires
   */
  async drain(over: AbortSignal, onProgress?: () => void): Promise<void> {
    this.startDraining();
    await this.until(() => {
      onProgress?.();
      return this.tools.size === 0 && this.steps.size === 0;
    }, over);
    if (this.tools.size === 0) return;
    for (const tool of this.tools) tool.interrupt();
    await this.until(() => this.tools.size === 0, AbortSignal.timeout(INTERRUPTION_MS));
  }

  private async until(isDone: () => boolean, over: AbortSignal): Promise<void> {
    const onAbort = (): void => this.notify();
    over.addEventListener('abort', onAbort);
    for (;;) {
      // The step that follows a tool begins in a later microtask.
      await new Promise((resolve) => setImmediate(resolve));
      if (over.aborted || isDone()) break;
      await new Promise<void>((resolve) => (this.notify = resolve));
    }
    over.removeEventListener('abort', onAbort);
  }
}
