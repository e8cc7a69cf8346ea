/** `bolide data backup` beside a process that writes. */
import { expect } from 'chai';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteDatabase } from '../../imports/database/sqlite/SqliteDatabase';
import { startChild } from '../support/embeddedChildren';
import { textsOf } from '../support/embeddedWriter';
import type { Written, WrittenContent, WrittenRow } from '../support/embeddedWriter';
import { runBolide } from '../support/runBolide';
import type { Ended } from '../support/runBolide';

const BACKUPS = 40;
const SEED = Number(process.env['BOLIDE_SEED'] ?? Date.now() % 1_000_000);

describe('bolide data', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-backups-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  const run = (...args: readonly string[]): Promise<Ended> => runBolide(['data', ...args]);

  it(`backs up what a running process has acknowledged, and nothing half-written (${BACKUPS} backups, seed ${SEED})`, async () => {
    for (const shape of ['short', 'long'] as const) {
      const live = join(directory, shape);
      const child = startChild('write', live, String(SEED), shape);
      const known = new Map<string, WrittenContent | undefined>();
      let pending: Written | undefined;
      let writes = 0;
      const reading = (async () => {
        for await (const line of child.lines) {
          if (line.startsWith('> ')) pending = JSON.parse(line.slice(2)) as Written;
          else if (line === '<' && pending !== undefined) {
            known.set(pending.id, pending.type === 'remove' ? undefined : pending);
            writes += 1;
          }
        }
      })();
      // The child is faster than this process reads what it prints.
      const backups: { readonly acknowledged: typeof known; readonly rows: ReadonlyMap<string, WrittenRow> }[] = [];
      for (let number = 0; number < BACKUPS; number += 1) {
        const begun = writes;
        while (writes < begun + 20) await new Promise((resolve) => setImmediate(resolve));
        const acknowledged = new Map(known);
        const target = join(directory, `${shape}-${number}`);
        const { code, output } = await run('backup', target, '--dir', live);
        expect(code, output).to.equal(0);
        expect(await run('check', '--dir', target)).to.include({ code: 0 });
        const database = await openSqliteDatabase({ directory: target });
        const rows = new Map((await database.collection<WrittenRow>('rows').find({})).map((row) => [row._id, row]));
        await database.close();
        backups.push({ acknowledged, rows });
        for (const [id, row] of rows) {
          const [size, kind] = [row.texts[0]?.length ?? 0, 'short'] as const;
          expect(row.texts.join() === textsOf(id, { n: row.n, size, shape: kind }).join(), id).to.equal(true);
        }
      }
      await child.kill();
      await reading;
      for (const { acknowledged, rows } of backups)
        for (const [id, content] of acknowledged) {
          const row = rows.get(id);
          // What was written or removed since may be in it or not.
          if (row === undefined)
            expect(content === undefined || known.get(id) === undefined || pending?.id === id, id).to.equal(true);
          else expect(content === undefined || row.n >= content.n, id).to.equal(true);
        }
    }
  });
});
