/** The command line of `npx bolide`, and of `npm start` and `npm run data`, `mcp` and `runs` in a checkout. */
import { Command, CommanderError, Help } from '@commander-js/extra-typings';
import type { CommandUnknownOpts } from '@commander-js/extra-typings';
import { version } from '../../../../package.json';
import { isLLMError } from '../../../business/ai/domain/errors/LLMErrors';
import type { CommandLinePorts } from './CommandLinePorts';
import { addDataCommands } from './data/addDataCommands';
import { processPorts } from './processPorts';
import { addRunsCommands } from './runs/addRunsCommands';
import { RunsClientError } from './runs/RunsClient';

const SETTINGS = `
The server's settings are environment variables:
  PORT, HOST        where it listens; default: 3000 on 127.0.0.1
  DATA_DIR          directory of the embedded database; default: .data
  MONGO_URL         MongoDB, instead of the embedded database
  BOLIDE_API_TOKEN  admin token; default: a new one at each start
  ANTHROPIC_API_KEY, GOOGLE_API_KEY, OPENAI_API_KEY, and so on
                    keys of the vendors; without any, vendors are simulated
All of them: docs/reference/configuration.md in Bolide's repository.`;

/**
 * @param args without Node and the program; none of them run the server
 * @returns the exit code
 */
export async function runCommandLine(
  args: readonly string[],
  ports: CommandLinePorts = processPorts(),
): Promise<number> {
  try {
    await createProgram(ports).parseAsync(args.length === 0 ? ['serve'] : args, { from: 'user' });
    return 0;
  } catch (error) {
    // Help, the version, or what is wrong with the arguments: it is printed already.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    if (!isLLMError(error) && !(error instanceof RunsClientError)) throw error;
    ports.printError(error.message);
    return 1;
  }
}

function createProgram(ports: CommandLinePorts): Command {
  const program = new Command('bolide')
    .description('LLM server with an agentic loop, durable runs and a dashboard')
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => ports.print(text.trimEnd()),
      writeErr: (text) => ports.printError(text.trimEnd()),
    })
    .configureHelp({ showGlobalOptions: true, formatHelp })
    .showHelpAfterError("See `bolide --help`; the server's settings are environment variables.")
    .addHelpText('after', SETTINGS)
    .addHelpText('afterAll', '\nExit codes: 0 done; 1 failed, or something is damaged; 2 wrong arguments.');
  program
    .command('serve')
    .description('runs the server, with its demo tools; so does `bolide` alone')
    .addHelpText('after', SETTINGS)
    .action(() => ports.serve());
  program
    .command('mcp')
    .description('offers the tools that MCP_TOOLS names to the program that starts this, over MCP')
    .addHelpText(
      'after',
      "\nMCP_USER (local) calls them. The other settings are the server's: see `bolide serve --help`.",
    )
    .action(() => ports.serveMcp());
  addRunsCommands(program, ports);
  addDataCommands(program, ports);
  return program;
}

/** Adds the options of subcommands to the help of their group. */
function formatHelp(command: CommandUnknownOpts, helper: Help): string {
  const width = helper.padWidth(command, helper);
  const sections = command.commands
    .filter(({ commands }) => commands.length === 0)
    .flatMap((each) =>
      helper.formatItemList(
        `Options of ${each.name()}:`,
        each.options.map((option) =>
          helper.formatItem(helper.optionTerm(option), width, helper.optionDescription(option), helper),
        ),
        helper,
      ),
    );
  return [new Help().formatHelp(command, helper), ...sections].join('\n');
}
