/** Starts processes of `embeddedWriter`, from one bundle per test run. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { buildSync } from 'esbuild';

export interface Child {
  readonly process: ChildProcess;
  /** The process's output, line by line until it exits, without a truncated last line. */
  readonly lines: AsyncIterable<string>;
  kill(): Promise<void>;
}

let bundle: string | undefined;

export function startChild(...args: readonly string[]): Child {
  const child = spawn(process.execPath, [writerBundle(), ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  return {
    process: child,
    lines: createInterface({ input: child.stdout }),
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** The program, which takes a mode and a directory as arguments. */
export function writerBundle(): string {
  bundle ??= build();
  return bundle;
}

/** The next line that it prints. */
export async function nextLine(child: Child): Promise<string> {
  const next: IteratorResult<string, unknown> = await child.lines[Symbol.asyncIterator]().next();
  if (next.done === true) throw new Error('The process has exited.');
  return next.value;
}

function build(): string {
  const directory = mkdtempSync(join(tmpdir(), 'bolide-bundle-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  const outfile = join(directory, 'writer.cjs');
  buildSync({
    stdin: {
      contents: "import { runWriter } from './embeddedWriter'; void runWriter(process.argv.slice(2));",
      resolveDir: __dirname,
      loader: 'ts',
    },
    bundle: true,
    platform: 'node',
    format: 'cjs',
    outfile,
    logLevel: 'error',
  });
  return outfile;
}
