/** Declares `bolide data`, which looks after the files of the embedded database. */
import { resolve } from 'node:path';
import type { Command } from '@commander-js/extra-typings';
import { codeOf, toFileError } from '../../../../database/fileErrors';
import { valueOf } from '../../../settings/environment';
import type { CommandLinePorts } from '../CommandLinePorts';
import type { DataContext } from './dataCommands';

type DataCommands = typeof import('./dataCommands');

export function addDataCommands(program: Command, { environment, print, printError, now }: CommandLinePorts): void {
  const data = program
    .command('data')
    .description('looks after the files of the embedded database')
    .option('--dir <directory>', 'data directory; default: DATA_DIR, or .data')
    .showHelpAfterError('See `bolide data --help`.');

  const perform = async (work: (commands: DataCommands, context: DataContext) => Promise<void>): Promise<void> => {
    const { dir } = data.opts();
    if (dir === undefined && valueOf(environment, 'MONGO_URL') !== undefined)
      printError('MONGO_URL is set, so the server uses MongoDB and not the embedded database.');
    const directory = resolve(dir ?? valueOf(environment, 'DATA_DIR') ?? '.data');
    try {
      await work(await import('./dataCommands'), { directory, print, now: now() });
    } catch (error) {
      throw codeOf(error) === '' ? error : toFileError(`${directory} cannot be used`, error);
    }
  };

  data
    .command('check')
    .description('reads everything, and names what is damaged; changes nothing')
    .action(() => perform(({ checkData }, context) => checkData(context)));
  data
    .command('repair')
    .description('writes what can be read to a new file, and keeps copies of the files as they were')
    .option('--accept-loss', 'also leaves out documents that cannot be read')
    .action(({ acceptLoss = false }) => perform(({ repairData }, context) => repairData(context, acceptLoss)));
  data
    .command('backup <directory>')
    .description('copies the database to a new directory, also while the server runs')
    .action((target) => perform(({ backUpData }, context) => backUpData(context, resolve(target))));
  data
    .command('restore <directory>')
    .description('puts a backup into the data directory, while no server runs')
    .option('--overwrite', 'moves data aside that is there')
    .action((source, { overwrite = false }) =>
      perform(({ restoreData }, context) => restoreData(context, resolve(source), overwrite)),
    );
  data
    .command('import')
    .description('imports the files of version 0.2, as the next start would, and puts them aside')
    .option('--accept-loss', 'leaves out what is damaged in them')
    .action(({ acceptLoss = false }) => perform(({ importData }, context) => importData(context, acceptLoss)));
}
