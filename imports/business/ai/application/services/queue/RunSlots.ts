/**
 * How many queued runs this process works on at a time: those that it takes from the queue, those that it takes over
 * from lost processes, and those that go on after a wait. A run that waits only for people and other services does not
 * count. Runs taken over come first, since they have begun already.
 */
import type { ToolExecutionContext } from '../../../domain/entities/Tool';
import { isExternalTool, isSettled, waitsForOthers } from '../../../domain/entities/Tool';
import type { IToolExecutor } from '../../../domain/interfaces/IToolExecutor';
import type { AgenticLoop } from '../AgenticLoop';
import { definitionIn } from '../tools/definitionIn';

export interface RunSlotsOptions {
  readonly loop: Pick<AgenticLoop, 'getExecutionContext' | 'on' | 'off'>;
  readonly tools: Pick<IToolExecutor, 'getToolDefinition'>;
  readonly limit: number;
}

/** After each of these a run may have begun or ended to wait. */
const TURNING_POINTS = [
  'run:started',
  'llm:response',
  'tool:approval_required',
  'tool:needs_review',
  'tool:executing',
  'tool:completed',
  'tool:failed',
  'tool:timeout',
  'tool:cancelled',
] as const;

export class RunSlots {
  private readonly options: RunSlotsOptions;
  /** Queued runs of this process, and who learns of their first wait. */
  private readonly runs = new Map<string, () => void>();
  /** Ids of the runs in `runs` that take a place, since they do not wait. */
  private readonly working = new Set<string>();
  /** Places of runs that are about to start. */
  private taken = 0;
  /** Runs to be taken over, for which there was no room. */
  private reserved = 0;
  private waiting: (() => void)[] = [];
  private onRoom = (): void => undefined;

  constructor(options: RunSlotsOptions) {
    this.options = options;
  }

  /** How many more runs may start. */
  get room(): number {
    return Math.max(0, this.options.limit - this.working.size - this.taken);
  }

  /**
   * Keeps the next places for runs to be taken over.
   * @param count how many were left where they are
   * @param onRoom called when there is a place
   */
  reserve(count: number, onRoom: () => void): void {
    this.reserved = count;
    this.onRoom = onRoom;
    this.admit();
  }

  /** Takes a place, even if there is none. @returns gives it back */
  take(): () => void {
    this.taken += 1;
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      this.taken -= 1;
      this.admit();
    };
  }

  /**
   * Takes a place as soon as there is one that is not reserved.
   * @param stopped ends the waiting
   * @returns gives it back; undefined if the queue was stopped
   */
  async enter(stopped: Promise<void>): Promise<(() => void) | undefined> {
    let isOver = false;
    const turn = new Promise<() => void>((resolve) => {
      this.waiting.push(() => {
        // The queue was stopped, so the place goes to the next in line.
        if (isOver) this.admit();
        else resolve(this.take());
      });
    });
    this.admit();
    const giveBack = await Promise.race([turn, stopped]);
    isOver = true;
    return giveBack ?? undefined;
  }

  /**
   * Counts a run of this process until it ends, whenever it does not wait.
   * @returns resolves when it begins to wait for the first time, or ends
   */
  async hold(executionId: string, done: Promise<unknown>): Promise<void> {
    if (this.runs.size === 0) this.listen('on');
    const idle = new Promise<void>((resolve) => this.runs.set(executionId, resolve));
    this.working.add(executionId);
    // A run that failed is done, too; its error is reported by events and the store.
    const ended = done.then(
      () => undefined,
      () => undefined,
    );
    void ended.then(() => {
      this.runs.delete(executionId);
      this.working.delete(executionId);
      if (this.runs.size === 0) this.listen('off');
      this.admit();
    });
    await Promise.race([ended, idle]);
  }

  private admit(): void {
    if (this.reserved > 0 && this.room > 0) this.onRoom();
    while (this.room > this.reserved) {
      const next = this.waiting.shift();
      if (next === undefined) return;
      next();
    }
  }

  private listen(how: 'on' | 'off'): void {
    const { loop } = this.options;
    for (const type of TURNING_POINTS) loop[how](type, this.onTurn);
    loop[how]('iteration:start', this.onIteration);
  }

  private readonly onIteration = ({ executionId }: { readonly executionId: string }): void => {
    if (this.runs.has(executionId)) this.working.add(executionId);
  };

  private readonly onTurn = ({ executionId }: { readonly executionId: string }): void => {
    const onIdle = this.runs.get(executionId);
    if (onIdle === undefined) return;
    const context = this.options.loop.getExecutionContext(executionId);
    if (context === undefined || !this.isWaiting(context)) {
      this.working.add(executionId);
      return;
    }
    onIdle();
    if (this.working.delete(executionId)) this.admit();
  };

  private isWaiting({ isCalling, toolCalls }: ToolExecutionContext): boolean {
    if (isCalling) return false;
    const open = [...toolCalls.values()].filter((call) => !isSettled(call));
    return open.length > 0 && open.every((call) => waitsForOthers(call, this.isExternal(call.name)));
  }

  private isExternal(name: string): boolean {
    const tool = definitionIn(this.options.tools, name);
    return tool !== undefined && isExternalTool(tool);
  }
}
