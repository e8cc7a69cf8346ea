/** `bolide` in this process. It starts no server unless a port does. */
import type { CommandLinePorts } from '../../imports/host/node/commandLine/CommandLinePorts';
import { runCommandLine } from '../../imports/host/node/commandLine/runCommandLine';

export interface Ended {
  readonly code: number;
  /** The lines of standard output and standard error. */
  readonly output: string;
}

export async function runBolide(args: readonly string[], ports: Partial<CommandLinePorts> = {}): Promise<Ended> {
  const lines: string[] = [];
  const print = (line: string): void => void lines.push(line);
  const refuse = (): Promise<void> => Promise.reject(new Error('This command starts no server.'));
  const code = await runCommandLine(args, {
    environment: {},
    print,
    printError: print,
    now: () => new Date(),
    serve: refuse,
    serveMcp: refuse,
    ...ports,
  });
  return { code, output: lines.join('\n') };
}
