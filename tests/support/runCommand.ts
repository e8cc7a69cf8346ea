/** The commands of a checkout as their users run them: `npm run ask -- "Hello"`. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const ROOT = join(__dirname, '../..');

/** What a command has of this process's environment: a developer's own vendors must not reach it. */
export function userEnvironment(): Readonly<Record<string, string | undefined>> {
  const { PATH, HOME } = process.env;
  return { PATH, HOME };
}

/** @throws with both outputs if the exit code is not 0 */
export function runCommand(
  script: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return promisify(execFile)('npm', ['run', '--silent', script, '--', ...args], {
    cwd: ROOT,
    env: { ...userEnvironment(), ...env },
    maxBuffer: 16 * 1024 * 1024,
  });
}
