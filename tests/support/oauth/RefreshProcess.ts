/** A child process that asks for tokens, as its parent sees it. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { FromChild, Point, ToChild } from './refreshChild';

export interface Told {
  readonly tokens: readonly string[];
  readonly errors: readonly string[];
}

export class RefreshProcess {
  /** Decides what becomes of the child at a point; default: it goes on. */
  onReached: (point: Point) => void = () => this.goOn();
  private readonly child: ChildProcess;
  private told: ((told: Told | undefined) => void) | undefined;

  private constructor(child: ChildProcess) {
    this.child = child;
    child.on('message', (message: FromChild) => {
      if (message.type === 'reached') this.onReached(message.point);
      if (message.type === 'told') this.settle(message);
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

  /** @returns undefined when the child died on the way */
  ask(providerId: string, userId: string, callers: number): Promise<Told | undefined> {
    return new Promise((resolve) => {
      this.told = resolve;
      this.send({ type: 'ask', providerId, userId, callers });
    });
  }

  goOn(): void {
    this.send({ type: 'go-on' });
  }

  stop(): void {
    this.child.kill('SIGSTOP');
  }

  /** Awake again, and on from the point where it was stopped. */
  wake(): void {
    this.child.kill('SIGCONT');
    this.goOn();
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

  private settle(told: Told | undefined): void {
    this.told?.(told);
    this.told = undefined;
  }

  private send(message: ToChild): void {
    if (this.isAlive) this.child.send(message);
  }
}
