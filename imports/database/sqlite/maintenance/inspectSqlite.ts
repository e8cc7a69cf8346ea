/** Reads everything in a database file and says what is damaged. Changes nothing. */
import type { SqliteFile } from '../SqliteFile';
import { StoreError } from '../../databaseErrors';
import { readSqlite, tablesOf, visitRows } from './readSqlite';

export interface SqliteReport {
  readonly collections: readonly { readonly name: string; readonly documents: number }[];
  readonly problems: readonly string[];
}

/** @throws StoreError for a file that cannot be opened */
export async function inspectSqlite(directory: string): Promise<SqliteReport> {
  return readSqlite(directory, (file) => Promise.resolve(inspect(file)));
}

function inspect(file: SqliteFile): SqliteReport {
  const problems: string[] = [];
  const collections: SqliteReport['collections'][number][] = [];
  const collect = (read: () => void): void => {
    try {
      read();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      problems.push(error.message);
    }
  };
  collect(() => {
    for (const row of file.all('PRAGMA integrity_check(20)')) {
      const problem = String(row['integrity_check']);
      if (problem !== 'ok') problems.push(problem);
    }
  });
  collect(() => {
    for (const table of tablesOf(file)) {
      let documents = 0;
      const unreadable = visitRows(file, table, (row) => {
        const problem = table.problemOf(row);
        if (problem !== undefined) problems.push(`${table.collection}, row ${String(row['rowid'])}: ${problem}`);
        documents += 1;
      });
      if (unreadable !== undefined)
        problems.push(
          `${table.collection}: rows from ${unreadable.from} to ${unreadable.to ?? 'the end'} cannot be read`,
        );
      collections.push({ name: table.collection, documents });
    }
  });
  return { collections, problems };
}
