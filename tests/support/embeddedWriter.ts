/**
 * A process with an embedded database, for tests that kill it. `hold` opens the directory and holds it; `leave`
 * opens it and exits without closing it; `write` changes documents one after another, printing to stdout each change
 * before it starts (`>`) and after it is done (`<`), until it is killed.
 */
import { isLLMError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { openEmbeddedDatabase } from '../../imports/business/ai/infrastructure/persistence/databases/embedded/EmbeddedDatabase';
import { seededRandom } from '../../scripts/seed/seededRandom';

/** Characters of a document that takes several writes to the file. */
export const LARGE = 1_200_000;

export interface WrittenRow {
  readonly _id: string;
  readonly n: number;
  readonly text: string;
}
export type Written =
  | { readonly type: 'insert' | 'update'; readonly id: string; readonly n: number; readonly size: number }
  | { readonly type: 'remove'; readonly id: string };

/** The text of a document follows from its id and version, so a mixed-up one is detected. */
export function textOf(id: string, n: number, size: number): string {
  return `${id}/${n}\u2028ü`.repeat(Math.ceil(size / 8)).slice(0, size);
}

export async function runWriter([
  mode,
  directory = '',
  seed = '0',
  largeShare = '0',
]: readonly string[]): Promise<void> {
  try {
    const database = await openEmbeddedDatabase({ directory, compactEvery: 100 });
    print(`open ${process.pid}`);
    if (mode === 'hold') {
      process.stdin.resume();
      return;
    }
    const rows = database.collection<WrittenRow>('rows');
    if (mode === 'leave') {
      await rows.insert({ _id: `by ${process.pid}`, n: 0, text: '' });
      return;
    }
    const versions = new Map((await rows.find({}, { fields: { n: 1 } })).map((row) => [row._id, row.n]));
    const random = seededRandom(Number(seed));
    for (let count = 0; ; count += 1) {
      const written = choose(random, versions, `${seed}-${count}`, Number(largeShare));
      print(`> ${JSON.stringify(written)}`);
      if (written.type === 'remove') await rows.remove({ _id: written.id });
      else if (written.type === 'insert')
        await rows.insert({ _id: written.id, n: written.n, text: textOf(written.id, written.n, written.size) });
      else
        await rows.update(
          { _id: written.id },
          { $set: { text: textOf(written.id, written.n, written.size) }, $inc: { n: 1 } },
        );
      print('<');
    }
  } catch (error) {
    print(isLLMError(error) ? `${error.name} ${error.message}` : String(error));
    process.exitCode = 1;
  }
}

function choose(random: () => number, versions: Map<string, number>, fresh: string, largeShare: number): Written {
  const size = random() < largeShare ? LARGE : Math.floor(random() * 400);
  const [id, n] = [...versions][Math.floor(random() * versions.size)] ?? [fresh, 0];
  const kind = random();
  if (versions.size > 12 || (kind < 0.1 && id !== fresh)) {
    versions.delete(id);
    return { type: 'remove', id };
  }
  if (kind < 0.6 && id !== fresh) {
    versions.set(id, n + 1);
    return { type: 'update', id, n: n + 1, size };
  }
  versions.set(fresh, 0);
  return { type: 'insert', id: fresh, n: 0, size };
}

/** On POSIX, pipes are written synchronously, so the line arrives even if the process is killed next. */
function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
