/** Starts `runChild` and other processes, from one bundle each per test run, and reads their output. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { bundleChild } from '../bundleChild';

const bundles = new Map<string, Promise<string>>();

export class RunChild {
  readonly process: ChildProcess;
  /** All lines that it has printed. */
  readonly lines: string[] = [];
  readonly failures: string[] = [];
  readonly exited: Promise<unknown>;
  private readonly listeners = new Set<() => void>();

  private constructor(process: ChildProcess) {
    this.process = process;
    this.exited = once(process, 'exit');
    if (process.stdout === null) throw new Error('The process has no stdout.');
    // A run that was to start in a process that is dead by now is not created.
    process.stdin?.on('error', () => undefined);
    createInterface({ input: process.stdout }).on('line', (line) => {
      this.lines.push(line);
      if (line.startsWith('failed')) this.failures.push(line);
      for (const listener of this.listeners) listener();
    });
  }

  /**
   * @param lease milliseconds
   * @param program a file beside this one
   */
  static async start(world: string, place: string, lease = 300, program = 'runChild.ts'): Promise<RunChild> {
    const bundle = bundles.get(program) ?? bundleChild(join(__dirname, program));
    bundles.set(program, bundle);
    return new RunChild(
      spawn(process.execPath, [await bundle, world, place, String(lease)], { stdio: ['pipe', 'pipe', 'inherit'] }),
    );
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  run(id: string): void {
    this.write(`run ${id}`);
  }

  write(line: string): void {
    this.process.stdin?.write(`${line}\n`);
  }

  /**
   * Resolves when the process has printed that many matching lines, including earlier ones. Rejects when it exits
   * first.
   * @returns the last matching line
   */
  waitForLines(count: number, predicate: (line: string) => boolean = () => true): Promise<string> {
    return new Promise((resolve, reject) => {
      const check = (): void => {
        const matching = this.lines.filter(predicate);
        if (matching.length < count) return;
        this.listeners.delete(check);
        resolve(matching[count - 1] ?? '');
      };
      this.listeners.add(check);
      check();
      void this.exited.then(() => reject(new Error(`The process has exited: ${this.failures.join('\n')}`)));
    });
  }

  /** Safe to call again. */
  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.exited;
  }
}
