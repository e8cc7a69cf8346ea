/** `npm run data` and `npx bolide data`: looks after the files of the embedded database. */
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isLLMError } from '../../business/ai/domain/errors/LLMErrors';
import { StoreError } from '../../business/ai/infrastructure/persistence/databases/databaseErrors';
import { toFileError } from '../../business/ai/infrastructure/persistence/databases/fileErrors';
import {
  hasDataFiles,
  importDataFiles,
} from '../../business/ai/infrastructure/persistence/databases/sqlite/import/importDataFiles';
import { backUpSqlite } from '../../business/ai/infrastructure/persistence/databases/sqlite/maintenance/backUpSqlite';
import { inspectSqlite } from '../../business/ai/infrastructure/persistence/databases/sqlite/maintenance/inspectSqlite';
import type { SqliteReport } from '../../business/ai/infrastructure/persistence/databases/sqlite/maintenance/inspectSqlite';
import { hasSqliteFile } from '../../business/ai/infrastructure/persistence/databases/sqlite/maintenance/readSqlite';
import { repairSqlite } from '../../business/ai/infrastructure/persistence/databases/sqlite/maintenance/repairSqlite';
import { restoreSqlite } from '../../business/ai/infrastructure/persistence/databases/sqlite/maintenance/restoreSqlite';

export const DATA_USAGE = `Usage: bolide data <command> [options]       (in a checkout: npm run data -- <command> [options])

Looks after the files of the embedded database.

  check                  reads everything, and names what is damaged; changes nothing
  repair                 writes what can be read to a new file, and keeps copies of the files as they were
    --accept-loss        also leaves out documents that cannot be read
  backup <directory>     copies the database to a new directory, also while the server runs
  restore <directory>    puts a backup into the data directory, while no server runs
    --overwrite          moves data aside that is there
  import                 imports the files of version 0.2, as the next start would, and puts them aside
    --accept-loss        leaves out what is damaged in them

  --dir <directory>      the data directory; default: DATA_DIR, or .data
  --help                 prints this

Exit codes: 0 done, and nothing is damaged; 1 something is damaged, or the command failed; 2 wrong arguments.`;

const OPTIONS = {
  dir: { type: 'string' },
  'accept-loss': { type: 'boolean', default: false },
  overwrite: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false, short: 'h' },
} as const;

export interface DataCommandPorts {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly print: (line: string) => void;
  readonly printError: (line: string) => void;
  readonly now: () => Date;
}

interface Command {
  readonly operands: number;
  /** @returns whether nothing is damaged */
  readonly run: (context: Context) => Promise<boolean>;
}

interface Context extends DataCommandPorts {
  readonly directory: string;
  readonly operand: string;
  readonly acceptLoss: boolean;
  readonly overwrite: boolean;
}

const COMMANDS: Readonly<Record<string, Command>> = {
  check: { operands: 0, run: check },
  repair: { operands: 0, run: repair },
  backup: { operands: 1, run: backup },
  restore: { operands: 1, run: restore },
  import: { operands: 0, run: importFiles },
};

/**
 * @param args behind `data`
 * @returns the exit code
 */
export async function runDataCommand(args: readonly string[], ports: DataCommandPorts = PROCESS): Promise<number> {
  const parsed = parse(args);
  if (typeof parsed === 'string') {
    ports.printError(`${parsed}\n\n${DATA_USAGE}`);
    return 2;
  }
  if (parsed.values.help) {
    ports.print(DATA_USAGE);
    return 0;
  }
  const { MONGO_URL, DATA_DIR } = ports.environment;
  if (parsed.values.dir === undefined && isGiven(MONGO_URL))
    ports.printError('MONGO_URL is set, so the server uses MongoDB and not the embedded database.');
  const directory = resolve(parsed.values.dir ?? (isGiven(DATA_DIR) ? DATA_DIR : '.data'));
  const { 'accept-loss': acceptLoss, overwrite } = parsed.values;
  try {
    const operand = resolve(parsed.operand);
    return (await parsed.command.run({ ...ports, directory, operand, acceptLoss, overwrite })) ? 0 : 1;
  } catch (error) {
    ports.printError(toFileError(`${directory} cannot be used`, error).message);
    if (!isLLMError(error) && !(error instanceof Error && 'code' in error)) throw error;
    return 1;
  }
}

const PROCESS: DataCommandPorts = {
  environment: process.env,
  print: (line) => console.log(line),
  printError: (line) => console.error(line),
  now: () => new Date(),
};

interface Parsed {
  readonly command: Command;
  readonly operand: string;
  readonly values: {
    readonly dir?: string | undefined;
    readonly 'accept-loss': boolean;
    readonly overwrite: boolean;
    readonly help: boolean;
  };
}

/** @returns what is wrong, if anything is */
function parse(args: readonly string[]): Parsed | string {
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: OPTIONS, allowPositionals: true });
    const [name = '', operand = '', ...others] = positionals;
    const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
    if (values.help) return { command: command ?? { operands: 0, run: check }, operand, values };
    if (command === undefined) return name === '' ? 'Name a command.' : `There is no command ${name}.`;
    if (positionals.length - 1 > command.operands) return `${others[0] ?? operand} is one argument too many.`;
    if (positionals.length - 1 < command.operands) return `${name} needs a directory.`;
    return { command, operand, values };
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
}

async function check({ directory, print }: Context): Promise<boolean> {
  requireDatabase(directory);
  return printReport(directory, await inspectSqlite(directory), print);
}

async function repair({ directory, acceptLoss, print, now }: Context): Promise<boolean> {
  requireDatabase(directory);
  const { copies, lost, remaining } = await repairSqlite(directory, { acceptLoss, now: now() });
  for (const each of lost) print(`${acceptLoss ? 'Left out' : 'Cannot be read'}: ${each}`);
  if (lost.length > 0 && !acceptLoss) print('Restore a backup, or accept the loss with --accept-loss.');
  if (copies !== undefined) print(`The files as they were are in ${copies}.`);
  return printReport(directory, remaining, print);
}

async function backup({ directory, operand, print }: Context): Promise<boolean> {
  requireDatabase(directory);
  const documents = await backUpSqlite(directory, operand);
  print(`Copied the database with ${documents} documents to ${operand}.`);
  if (existsSync(join(directory, 'secret.key')))
    print(`${join(directory, 'secret.key')} is not part of it: keep a copy elsewhere. Stored API keys need it.`);
  return true;
}

async function restore({ directory, operand, overwrite, print, now }: Context): Promise<boolean> {
  const { documents, replaced } = await restoreSqlite(operand, directory, { overwrite, now: now() });
  print(`Restored ${documents} documents in ${directory}.`);
  if (replaced !== undefined) print(`What was there before is in ${replaced}.`);
  return true;
}

async function importFiles({ directory, acceptLoss, print }: Context): Promise<boolean> {
  if (!hasOldFiles(directory)) throw new StoreError(`${directory} contains no files of version 0.2.`);
  await importDataFiles(directory, { print, acceptLoss });
  return true;
}

function requireDatabase(directory: string): void {
  if (hasSqliteFile(directory)) return;
  throw new StoreError(
    hasOldFiles(directory)
      ? `${directory} contains files of version 0.2: see \`import\`.`
      : `${directory} contains no database.`,
  );
}

function hasOldFiles(directory: string): boolean {
  return existsSync(directory) && hasDataFiles(readdirSync(directory));
}

function printReport(directory: string, { collections, problems }: SqliteReport, print: Print): boolean {
  for (const { name, documents } of collections) print(`${name}: ${documents} documents`);
  for (const problem of problems) print(`  damaged: ${problem}`);
  print(problems.length === 0 ? `${directory}: nothing is damaged.` : `${directory} is damaged.`);
  return problems.length === 0;
}

type Print = DataCommandPorts['print'];

function isGiven(value: string | undefined): value is string {
  return value !== undefined && value !== '';
}
