/**
 * A process with an embedded database, for tests. `hold` opens the directory, holds it, and inserts a document for
 * each line of stdin, printing `written` or the error. `leave` opens it and exits without closing it. `fill` inserts
 * documents until there is no space left, makes room, and prints what has become of them. `write` changes documents one
 * after another, printing to stdout each change before it starts (`>`) and after it is done (`<`), until it is killed.
 */
import { writeSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { isLLMError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { DocumentDatabase } from '../../imports/database/DocumentDatabase';
import { openSqliteDatabase } from '../../imports/database/sqlite/SqliteDatabase';
import { seededRandom } from '../../scripts/seed/seededRandom';

/** A long text is stored apart from its document. A wide document takes several pages. */
export type Shape = 'short' | 'long' | 'wide';

/** Characters of a long text, and of a wide document. */
const LARGE = 1_200_000;
/** Characters of one of the texts of a wide document. */
const PART = 4_000;

export interface WrittenRow {
  readonly _id: string;
  readonly n: number;
  readonly texts: readonly string[];
}
export interface WrittenContent {
  readonly n: number;
  readonly size: number;
  readonly shape: Shape;
}
export type Written =
  | ({ readonly type: 'insert' | 'update'; readonly id: string } & WrittenContent)
  | { readonly type: 'remove'; readonly id: string };

/** The texts of a document follow from its id and version, so mixed-up ones are detected. */
export function textsOf(id: string, { n, size, shape }: WrittenContent): readonly string[] {
  const text = `${id}/${n}\u2028ü`.repeat(Math.ceil(size / 8)).slice(0, size);
  if (shape !== 'wide') return [text];
  return Array.from({ length: Math.ceil(size / PART) }, (_, at) => text.slice(at * PART, (at + 1) * PART));
}

export async function runWriter([mode, directory = '', seed = '0', large = 'short']: readonly string[]): Promise<void> {
  try {
    const database = await openSqliteDatabase({ directory });
    print(`open ${process.pid}`);
    if (mode === 'hold') {
      const held = database.collection<WrittenRow>('rows');
      for await (const line of createInterface({ input: process.stdin })) {
        const written = held.insert({ _id: line, n: 0, texts: [] });
        print(await written.then(() => 'written', describe));
      }
      return;
    }
    const rows = database.collection<WrittenRow>('rows');
    if (mode === 'leave') {
      await rows.insert({ _id: `by ${process.pid}`, n: 0, texts: [] });
      return;
    }
    if (mode === 'fill') {
      await fill(directory, database);
      return;
    }
    const versions = new Map((await rows.find({}, { fields: { n: 1 } })).map((row) => [row._id, row.n]));
    const random = seededRandom(Number(seed));
    for (let count = 0; ; count += 1) {
      // Boundary: what `startChild` passes.
      const written = choose(random, versions, `${seed}-${count}`, large as Shape);
      print(`> ${JSON.stringify(written)}`);
      if (written.type === 'remove') await rows.remove({ _id: written.id });
      else if (written.type === 'insert')
        await rows.insert({ _id: written.id, n: written.n, texts: textsOf(written.id, written) });
      else await rows.update({ _id: written.id }, { $set: { texts: textsOf(written.id, written) }, $inc: { n: 1 } });
      print('<');
    }
  } catch (error) {
    print(describe(error));
    process.exitCode = 1;
  }
}

/** Half of the space that `fill` finds: room for a full log of changes, and for applying it. */
const FILLER_BYTES = 16 * 1_024 * 1_024;

async function fill(directory: string, database: DocumentDatabase): Promise<void> {
  const filler = join(directory, 'filler');
  await writeFile(filler, Buffer.alloc(FILLER_BYTES));
  let opened = database;
  let acknowledged = 0;
  const insert = (): Promise<void> =>
    opened.collection<WrittenRow>('rows').insert({ _id: `${acknowledged}`, n: 0, texts: ['x'.repeat(5_000)] });
  const printContent = async (when: string): Promise<void> => {
    const count = await opened.collection<WrittenRow>('rows').count({});
    print(`${count === acknowledged ? 'all acknowledged are there' : `${count} of ${acknowledged} are there`} ${when}`);
  };
  try {
    for (; ; acknowledged += 1) await insert();
  } catch (error) {
    print(describe(error));
  }
  await printContent('on the full disk');
  await opened.close();
  opened = await openSqliteDatabase({ directory });
  try {
    await printContent('at a start on the full disk');
  } catch (error) {
    print(`${describe(error)} at a start on the full disk`);
  }
  await opened.close();
  await rm(filler);
  opened = await openSqliteDatabase({ directory });
  await printContent('at a start with room');
  await insert();
  acknowledged += 1;
  await opened.close();
  opened = await openSqliteDatabase({ directory });
  await printContent('at the next start');
  await opened.close();
}

const LARGE_SHARE = 0.3;

function choose(random: () => number, versions: Map<string, number>, fresh: string, large: Shape): Written {
  const shape = random() < LARGE_SHARE ? large : 'short';
  const size = shape === 'short' ? Math.floor(random() * 400) : LARGE;
  const [id, n] = [...versions][Math.floor(random() * versions.size)] ?? [fresh, 0];
  const kind = random();
  if (versions.size > 12 || (kind < 0.1 && id !== fresh)) {
    versions.delete(id);
    return { type: 'remove', id };
  }
  if (kind < 0.6 && id !== fresh) {
    versions.set(id, n + 1);
    return { type: 'update', id, n: n + 1, size, shape };
  }
  versions.set(fresh, 0);
  return { type: 'insert', id: fresh, n: 0, size, shape };
}

function describe(error: unknown): string {
  return isLLMError(error) ? `${error.name} ${error.message}` : String(error);
}

/** Through the descriptor, so that the line arrives even if the process is killed next. */
function print(line: string): void {
  writeSync(1, `${line}\n`);
}
