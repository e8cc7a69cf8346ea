/** The parent's handle of a child process that requests tokens. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { FromChild, Point, ToChild } from './refreshChild';

export interface RefreshOutcome {
  readonly tokens: readonly string[];
  readonly errors: readonly string[];
}

export class RefreshProcess {
  /** Called when the child pauses at a point. Default: resumes it. */
  onReached: (point: Point) => void = () => this.resume();
  private readonly child: ChildProcess;
  private resolveOutcome: ((outcome: RefreshOutcome | undefined) => void) | undefined;

  private constructor(child: ChildProcess) {
    this.child = child;
    child.on('message', (message: FromChild) => {
      if (message.type === 'reached') this.onReached(message.point);
      if (message.type === 'outcome') this.settle(message);
    });
    child.on('exit', () => this.settle(undefined));
  }

  static async start(
    bundle: string,
    setup: Omit<Extract<ToChild, { type: 'setup' }>, 'type'>,
  ): Promise<RefreshProcess> {
    const child = fork(bundle, { execArgv: [], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    child.send({ type: 'setup', ...setup } satisfies ToChild);
    await once(child, 'message');
    return new RefreshProcess(child);
  }

  /** @returns undefined if the child died before it reported */
  requestTokens(providerId: string, userId: string, callers: number): Promise<RefreshOutcome | undefined> {
    return new Promise((resolve) => {
      this.resolveOutcome = resolve;
      this.send({ type: 'request', providerId, userId, callers });
    });
  }

  resume(): void {
    this.send({ type: 'resume' });
  }

  stop(): void {
    this.child.kill('SIGSTOP');
  }

  /** Continues a stopped process from the point where it paused. */
  wake(): void {
    this.child.kill('SIGCONT');
    this.resume();
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exited = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exited;
  }

  get isAlive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  private settle(outcome: RefreshOutcome | undefined): void {
    this.resolveOutcome?.(outcome);
    this.resolveOutcome = undefined;
  }

  private send(message: ToChild): void {
    if (this.isAlive) this.child.send(message);
  }
}
