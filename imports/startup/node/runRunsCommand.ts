/** `npm run runs` and `npx bolide runs`: shows the runs of a server, and decides about them. */
import { parseArgs } from 'node:util';
import { cancelRun, listRuns, OUTCOMES, retryRun, reviewCalls, showRun } from './runs/runCommands';
import type { Outcome, RunsContext } from './runs/runCommands';
import { RunsClient, RunsClientError } from './runs/RunsClient';

export const RUNS_USAGE = `Usage: bolide runs <command> [options]       (in a checkout: npm run runs -- <command> [options])

Shows the runs of a running server, and decides about them.

  list                   the newest runs
    --state <states>     only those in these states: queued, running, waiting, completed, failed, cancelled
    --user <id>          only those of this user
    --stuck              only what waits for people: calls under review or approval, parked runs, external tools
    --limit <number>     as many as this; default: 50
  show <run>             what a run was asked to do, its state, and its tool calls
  cancel <run>
  retry <run>            resumes a parked run; starts a failed or cancelled one again
  review [run]           the calls that wait for a decision
    --outcome <outcome>  decides about a call of the run: approve or reject it; for an interrupted call, rerun it, report
                         its outcome as unknown, or give its result
    --call <id>          the call, if several wait
    --reason <text>      why it is rejected, for the model
    --result <text>      its result

  --url <url>            the server; default: BOLIDE_SERVER_URL, or http://127.0.0.1:PORT
  --json                 prints JSON instead of tables
  --help                 prints this

The token is read from BOLIDE_API_TOKEN.

Exit codes: 0 done; 1 the server refused or could not be reached; 2 wrong arguments.`;

const OPTIONS = {
  url: { type: 'string' },
  state: { type: 'string' },
  user: { type: 'string' },
  stuck: { type: 'boolean', default: false },
  limit: { type: 'string' },
  call: { type: 'string' },
  outcome: { type: 'string' },
  reason: { type: 'string' },
  result: { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false, short: 'h' },
} as const;

export interface RunsCommandPorts {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly print: (line: string) => void;
  readonly printError: (line: string) => void;
  readonly now: () => number;
}

interface Command {
  /** Whether it takes a run. */
  readonly run: 'needed' | 'possible' | 'none';
  readonly execute: (context: RunsContext) => Promise<void>;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  list: { run: 'none', execute: listRuns },
  show: { run: 'needed', execute: showRun },
  cancel: { run: 'needed', execute: cancelRun },
  retry: { run: 'needed', execute: retryRun },
  review: { run: 'possible', execute: reviewCalls },
};

/**
 * @param args behind `runs`
 * @returns the exit code
 */
export async function runRunsCommand(args: readonly string[], ports: RunsCommandPorts = PROCESS): Promise<number> {
  const { environment, print, printError } = ports;
  const parsed = parse(args);
  if (typeof parsed === 'string') {
    printError(`${parsed}\n\n${RUNS_USAGE}`);
    return 2;
  }
  if (parsed.values.help) {
    print(RUNS_USAGE);
    return 0;
  }
  const token = environment['BOLIDE_API_TOKEN'] ?? '';
  if (token === '') {
    printError(
      'Set BOLIDE_API_TOKEN to a token of the server: its admin token, or one that was made in the dashboard.',
    );
    return 1;
  }
  const port = given(environment['PORT']) ?? '3000';
  const url = parsed.values.url ?? given(environment['BOLIDE_SERVER_URL']) ?? `http://127.0.0.1:${port}`;
  try {
    const client = new RunsClient({ url, token });
    await parsed.command.execute({ client, run: parsed.run, options: parsed.values, print, now: ports.now() });
    return 0;
  } catch (error) {
    if (!(error instanceof RunsClientError)) throw error;
    printError(error.message);
    return 1;
  }
}

const PROCESS: RunsCommandPorts = {
  environment: process.env,
  print: (line) => console.log(line),
  printError: (line) => console.error(line),
  now: () => Date.now(),
};

type Parsed = {
  readonly command: Command;
  readonly run: string;
  readonly values: RunsContext['options'] & { readonly help: boolean; readonly url?: string | undefined };
};

/** @returns what is wrong, if anything is */
function parse(args: readonly string[]): Parsed | string {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const [name = '', run = '', ...others] = positionals;
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (values.help) return { command: command ?? { run: 'none', execute: listRuns }, run, values };
    if (command === undefined) return name === '' ? 'Name a command.' : `There is no command ${name}.`;
    if (others.length > 0 || (command.run === 'none' && run !== ''))
      return `${others[0] ?? run} is one argument too many.`;
    if (command.run === 'needed' && run === '') return `${name} needs the id of a run.`;
    return problemOf(values, run) ?? { command, run, values };
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
}

function problemOf({ outcome, result }: RunsContext['options'], run: string): string | undefined {
  if (outcome === undefined) return undefined;
  if (!OUTCOMES.includes(outcome as Outcome)) return `--outcome must be one of ${OUTCOMES.join(', ')}.`;
  if (run === '') return 'A decision needs the id of a run.';
  if (outcome === 'result' && result === undefined) return '--outcome result needs --result.';
  return undefined;
}

function given(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}
