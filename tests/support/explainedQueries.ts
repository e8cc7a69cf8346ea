/** How SQLite answers the queries of some work. */
import sinon from 'sinon';
import { SqliteFile } from '../../imports/database/sqlite/SqliteFile';

/** @returns a line for each step of each query: `SEARCH ai_runs USING INDEX …` */
export async function explainedQueries(work: () => Promise<unknown>): Promise<readonly string[]> {
  const spies = [sinon.spy(SqliteFile.prototype, 'all'), sinon.spy(SqliteFile.prototype, 'get')];
  try {
    await work();
  } finally {
    for (const spy of spies) spy.restore();
  }
  const steps: string[] = [];
  for (const spy of spies)
    for (const { thisValue, args } of spy.getCalls()) {
      const [sql, values] = args;
      if (!sql.startsWith('SELECT')) continue;
      // Sinon types no receivers.
      const file = thisValue as SqliteFile;
      for (const { detail } of file.all(`EXPLAIN QUERY PLAN ${sql}`, values)) steps.push(String(detail));
    }
  return steps;
}
