/** The shell blocks in the documentation: which npm scripts they name, and what the rest does when it runs. */
import { execFile } from 'node:child_process';
import { ROOT } from './markdown';
import type { CodeBlock } from './markdown';

/** Commands that are checked rather than run: they install, start, test or need another machine. */
const CHECKED = /^(?:\w+=(?:'[^']*'|\S+) )*(?:npm|npx)\b/;
/** What the reader fills in, and the test knows. */
const GIVEN = /^(?:BASE|TOKEN)=/;

export function isShell({ language }: CodeBlock): boolean {
  return language === 'sh' || language === 'bash';
}

/** The arguments of every npm command of a block. */
export function npmCommandsOf({ code }: CodeBlock): readonly string[] {
  return code
    .split('\n')
    .filter((line) => CHECKED.test(line))
    .map((line) => line.replace(/\s+#.*$/, '').replace(/^(?:\w+=(?:'[^']*'|\S+) )*npm /, ''));
}

/** What is left of a block to be run; empty for a block of npm commands alone. */
export function scriptOf({ code }: CodeBlock): string {
  const lines = code.split('\n').filter((line) => !CHECKED.test(line) && !GIVEN.test(line));
  return lines.some((line) => line.trim() !== '' && !line.startsWith('#')) ? lines.join('\n') : '';
}

export interface ShellResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A stream that stays open ends with curl's own time limit, `-m`; one second is enough here. */
const PREAMBLE = `
curl() {
  local args=() limited= previous= code=0
  for arg in "$@"; do
    if [ "$previous" = -m ]; then arg=1; limited=1; fi
    args+=("$arg"); previous=$arg
  done
  command curl --max-time 20 "\${args[@]}" || code=$?
  if [ "$code" = 28 ] && [ -n "$limited" ]; then return 0; fi
  return $code
}
`;

export interface ShellOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** The working directory, for what the script writes. Default: the repository. */
  readonly cwd?: string;
}

export function runShell(script: string, { env = {}, cwd = ROOT }: ShellOptions = {}): Promise<ShellResult> {
  const { PATH = '', HOME = '' } = process.env;
  return new Promise((resolve) => {
    execFile(
      'bash',
      ['--norc', '-euo', 'pipefail', '-c', PREAMBLE + script],
      { cwd, env: { PATH, HOME, ...env }, timeout: 25_000, maxBuffer: 16 * 1024 * 1024 },
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : 1, stdout, stderr }),
    );
  });
}

/** The first error body in an output: of this server's APIs, of a stream, or of a chat. */
export function errorIn(output: string): string | undefined {
  return /.*(?:"error"\s*:\s*[{"]|"type"\s*:\s*"error"|^data: ERROR).*/m.exec(output)?.[0];
}
