/**
 * Fills the database of DATA_DIR or MONGO_URL with invented runs: `npm run seed -- [--runs 100000] [--waiting 1000]
 * [--seed 1]`. No host may be using the data directory at the same time.
 */
import { parseArgs } from 'node:util';
import { openDatabase } from '../imports/database/openDatabase';
import { openRunStore } from '../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { DocumentRequestStore } from '../imports/business/requestLog/infrastructure/DocumentRequestStore';
import { isLLMError } from '../imports/business/ai/domain/errors/LLMErrors';
import { seedDatabase } from './seed/seedDatabase';
import { seededRandom } from './seed/seededRandom';

const OPTIONS = {
  runs: { type: 'string', default: '100000' },
  waiting: { type: 'string', default: '1000' },
  seed: { type: 'string', default: '1' },
} as const;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS });
  const [runs, waiting, seed] = [values.runs, values.waiting, values.seed].map(Number);
  if (![runs, waiting, seed].every((value) => Number.isSafeInteger(value) && (value ?? -1) >= 0))
    throw new Error('--runs, --waiting and --seed must be whole numbers.');
  const database = await openDatabase(process.env);
  try {
    await openRunStore(database);
    await new DocumentRequestStore(database).ready();
    const started = performance.now();
    const stored = await seedDatabase(database, {
      runs: runs ?? 0,
      waiting: waiting ?? 0,
      now: Date.now(),
      random: seededRandom(seed ?? 1),
    });
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(
      `Stored ${Object.entries(stored)
        .map(([what, count]) => `${count} ${what}`)
        .join(', ')} in ${seconds} s.`,
    );
  } finally {
    await database.close();
  }
}

main().catch((error: unknown) => {
  console.error(isLLMError(error) ? error.message : error);
  process.exitCode = 1;
});
