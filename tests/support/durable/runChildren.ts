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
  readonly failures: string[] = [];
  private readonly exited: Promise<unknown>;
  private readonly hear = new Set<(line: string) => void>();

  private constructor(process: ChildProcess) {
    this.process = process;
    this.exited = once(process, 'exit');
    if (process.stdout === null) throw new Error('it has no stdout');
    createInterface({ input: process.stdout }).on('line', (line) => {
      if (line.startsWith('failed')) this.failures.push(line);
      for (const hear of this.hear) hear(line);
    });
  }

  /** @param lease milliseconds */
  static async start(world: string, place: string, lease = 300): Promise<RunChild> {
    bundle ??= bundleChild(join(__dirname, 'runChild.ts'));
    return new RunChild(spawn(process.execPath, [await bundle, world, place, String(lease)], { stdio: ['pipe', 'pipe', 'inherit'] }));
  }

  get pid(): number {
    return this.process.pid ?? 0;
  }

  run(id: string): void {
    this.process.stdin?.write(`run ${id}\n`);
  }

  /** Resolves at the line, from now on, that the test accepts; rejects when the process ends before. */
  line(accepts: (line: string) => boolean): Promise<string> {
    return new Promise((resolve, reject) => {
      const listen = (line: string): void => {
        if (!accepts(line)) return;
        this.hear.delete(listen);
        resolve(line);
      };
      this.hear.add(listen);
      void this.exited.then(() => reject(new Error(`the process has ended: ${this.failures.join('\n')}`)));
    });
  }

  /** Safe to call again. */
  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.exited;
  }
}
