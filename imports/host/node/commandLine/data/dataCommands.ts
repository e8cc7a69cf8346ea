/** The commands of `bolide data`. They are loaded when one of them runs. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../../../../database/databaseErrors';
import { hasDataFiles, importDataFiles } from '../../../../database/sqlite/import/importDataFiles';
import { backUpSqlite } from '../../../../database/sqlite/maintenance/backUpSqlite';
import { inspectSqlite } from '../../../../database/sqlite/maintenance/inspectSqlite';
import type { SqliteReport } from '../../../../database/sqlite/maintenance/inspectSqlite';
import { hasSqliteFile } from '../../../../database/sqlite/maintenance/readSqlite';
import { repairSqlite } from '../../../../database/sqlite/maintenance/repairSqlite';
import { restoreSqlite } from '../../../../database/sqlite/maintenance/restoreSqlite';

export interface DataContext {
  readonly directory: string;
  readonly print: (line: string) => void;
  readonly now: Date;
}

/** @throws StoreError if something is damaged */
export async function checkData({ directory, print }: DataContext): Promise<void> {
  requireDatabase(directory);
  report(directory, await inspectSqlite(directory), print);
}

/** @throws StoreError if something is still damaged */
export async function repairData({ directory, print, now }: DataContext, acceptLoss: boolean): Promise<void> {
  requireDatabase(directory);
  const { copies, lost, remaining } = await repairSqlite(directory, { acceptLoss, now });
  for (const each of lost) print(`${acceptLoss ? 'Left out' : 'Cannot be read'}: ${each}`);
  if (lost.length > 0 && !acceptLoss) print('Restore a backup, or accept the loss with --accept-loss.');
  if (copies !== undefined) print(`The files as they were are in ${copies}.`);
  report(directory, remaining, print);
}

export async function backUpData({ directory, print }: DataContext, target: string): Promise<void> {
  requireDatabase(directory);
  const documents = await backUpSqlite(directory, target);
  print(`Copied the database with ${documents} documents to ${target}.`);
  if (existsSync(join(directory, 'secret.key')))
    print(`${join(directory, 'secret.key')} is not part of it: keep a copy elsewhere. Stored API keys need it.`);
}

export async function restoreData(
  { directory, print, now }: DataContext,
  source: string,
  overwrite: boolean,
): Promise<void> {
  const { documents, replaced } = await restoreSqlite(source, directory, { overwrite, now });
  print(`Restored ${documents} documents in ${directory}.`);
  if (replaced !== undefined) print(`What was there before is in ${replaced}.`);
}

export async function importData({ directory, print }: DataContext, acceptLoss: boolean): Promise<void> {
  if (!hasOldFiles(directory)) throw new StoreError(`${directory} contains no files of version 0.2.`);
  await importDataFiles(directory, { print, acceptLoss });
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

function report(directory: string, { collections, problems }: SqliteReport, print: DataContext['print']): void {
  for (const { name, documents } of collections) print(`${name}: ${documents} documents`);
  for (const problem of problems) print(`  damaged: ${problem}`);
  if (problems.length > 0) throw new StoreError(`${directory} is damaged.`);
  print(`${directory}: nothing is damaged.`);
}
