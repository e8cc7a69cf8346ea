/** Declares `bolide runs`, which shows the runs of a server, and decides about them. */
import { Option } from '@commander-js/extra-typings';
import type { Command } from '@commander-js/extra-typings';
import { valueOf } from '../../../settings/environment';
import type { CommandLinePorts } from '../CommandLinePorts';
import { cancelRun, decideCall, listRuns, listWaitingCalls, OUTCOMES, retryRun, showRun } from './runCommands';
import type { RunsContext } from './runCommands';
import { RunsClient, RunsClientError } from './RunsClient';

export function addRunsCommands(program: Command, { environment, print, now }: CommandLinePorts): void {
  const runs = program
    .command('runs')
    .description('shows the runs of a running server, and decides about them')
    .option('--url <url>', 'the server; default: BOLIDE_SERVER_URL, or http://127.0.0.1:PORT')
    .option('--json', 'prints JSON instead of tables')
    .showHelpAfterError('See `bolide runs --help`.')
    .addHelpText('afterAll', '\nThe token is read from BOLIDE_API_TOKEN.');

  const connect = (): RunsContext => {
    const token = valueOf(environment, 'BOLIDE_API_TOKEN');
    if (token === undefined)
      throw new RunsClientError(
        'Set BOLIDE_API_TOKEN to a token of the server: its admin token, or one that was made in the dashboard.',
      );
    const { url, json = false } = runs.opts();
    const local = `http://127.0.0.1:${valueOf(environment, 'PORT') ?? '3000'}`;
    const client = new RunsClient({ url: url ?? valueOf(environment, 'BOLIDE_SERVER_URL') ?? local, token });
    return { client, json, print, now: now().getTime() };
  };

  runs
    .command('list')
    .description('the newest runs')
    .option('--state <states>', 'only those that are queued, running, waiting, completed, failed or cancelled')
    .option('--user <id>', 'only those of this user')
    .option('--stuck', 'only what waits for people: calls under review or approval, parked runs, external tools')
    .option('--limit <number>', 'as many as this; default: 50')
    .action((options) => listRuns(connect(), options));
  runs
    .command('show <run>')
    .description('what a run was asked to do, its state, and its tool calls')
    .action((run) => showRun(connect(), run));
  runs
    .command('cancel <run>')
    .description('cancels a run')
    .action((run) => cancelRun(connect(), run));
  runs
    .command('retry <run>')
    .description('resumes a parked run; starts a failed or cancelled one again')
    .action((run) => retryRun(connect(), run));
  runs
    .command('review [run]')
    .description('the calls that wait for a decision')
    .addOption(
      new Option(
        '--outcome <outcome>',
        'decides about a call of the run; `rerun`, `unknown` and `result` are for calls that were interrupted',
      ).choices(OUTCOMES),
    )
    .option('--call <id>', 'the call, if several wait')
    .option('--reason <text>', 'why it is rejected, for the model')
    .option('--result <text>', 'its result')
    .action(async (run, { outcome, ...details }, command) => {
      if (outcome === undefined) return listWaitingCalls(connect(), run);
      if (run === undefined) return command.error('error: a decision needs the id of a run');
      if (outcome === 'result' && details.result === undefined)
        return command.error('error: --outcome result needs --result');
      return decideCall(connect(), run, { outcome, ...details });
    });
}
