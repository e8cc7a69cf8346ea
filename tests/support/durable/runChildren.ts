/** Starts processes of `runChild`, from one bundle for the whole test run, and hears what they say. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bundleChild } from '../bundleChild';

let bundle: Promise<string> | undefined;

export class RunChild {
  readonly process: ChildProcess;
  /** Everything it has said. */
  readonly lines: string[] = [];
  readonly failures: string[] = [];
  private readonly exited: Promise<unknown>;
  private readonly hear = new Set<() => void>();

  private constructor(process: ChildProcess) {
    this.process = process;
    this.exited = once(process, 'exit');
    if (process.stdout === null) throw new Error('it has no stdout');
    createInterface({ input: process.stdout }).on('line', (line) => {
      this.lines.push(line);
      if (line.startsWith('failed')) this.failures.push(line);
      for (const hear of this.hear) hear();
    });
  }

  /** @param lease milliseconds */
  static async start(world: string, place: string, lease = 300): Promise<RunChild> {
    bundle ??= bundleChild(join(__dirname, 'runChild.ts'));
    return new RunChild(
      spawn(process.execPath, [await bundle, world, place, String(lease)], { stdio: ['pipe', 'pipe', 'inherit'] }),
    );
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  run(id: string): void {
    this.process.stdin?.write(`run ${id}\n`);
  }

  /**
   * Resolves when it has said so many such lines, what it said already among them; rejects when the process ends
   * before. @returns the last of them
   */
  said(many: number, isMeant: (line: string) => boolean = () => true): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const meant = this.lines.filter(isMeant);
        if (meant.length < many) return;
        this.hear.delete(look);
        resolve(meant[many - 1] ?? '');
      };
      this.hear.add(look);
      look();
      void this.exited.then(() => reject(new Error(`the process has ended: ${this.failures.join('\n')}`)));
    });
  }

  /** Safe to call again. */
  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.exited;
  }
}
