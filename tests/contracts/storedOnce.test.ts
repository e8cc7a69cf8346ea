/** What a run is given is stored once, however often the run is written. */
import { expect } from 'chai';
import { assistantMessage, userMessage } from '../../imports/business/ai/domain/entities/Message';
import { DocumentRunViews } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunViews';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import type { DocumentRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { RunRetention } from '../../imports/business/ai/infrastructure/persistence/runs/RunRetention';
import { RUNS } from '../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import { RUN_ITEMS } from '../../imports/business/ai/infrastructure/persistence/runs/RunTranscripts';
import type { Item } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { runRequest } from '../support/runRequests';

const LONG = 'A long question. '.repeat(1_000);
const INPUT: readonly Item[] = [userMessage('Before.'), assistantMessage('Yes.'), userMessage(LONG)];
const TURNS: readonly Item[] = [assistantMessage('One.'), assistantMessage('Two.')];
const WHOLE = [...INPUT, ...TURNS];
const ENDED = { state: 'completed', endedAt: 9 } as const;

for (const [name, open] of Object.entries(DATABASES)) {
  describe(`the input of a run (${name})`, () => {
    let opened: TestDatabase;
    let store: DocumentRunStore;
    before(async () => {
      opened = await open();
      store = await openRunStore(opened.database);
    });
    after(() => opened.close());

    const copies = async (id: string): Promise<number> => {
      const { database } = opened;
      const found = [
        ...(await database.collection(RUNS).find({ _id: id })),
        ...(await database.collection(RUN_ITEMS).find({ executionId: id })),
      ];
      return JSON.stringify(found).split(LONG).length - 1;
    };
    const transcriptOf = async (id: string): Promise<readonly unknown[]> => {
      const stored = await store.load(id);
      const view = await new DocumentRunViews(opened.database).run(id);
      expect(view).not.to.have.any.keys('output', 'transcriptItems');
      expect(JSON.parse(view?.transcript ?? '')).to.deep.equal(stored?.run.transcript);
      return stored?.run.transcript ?? [];
    };
    const begin = (id: string) => store.create(runRequest(id, { input: INPUT }), 'running', 'me');
    const write = (id: string, $set: object) =>
      opened.database.collection(RUNS).update({ _id: id }, { $set: { ...$set } });

    it('is stored once when the run begins, after each of its turns, and when it has ended', async () => {
      const lease = await begin('once');
      expect([await copies('once'), await transcriptOf('once')]).to.deep.equal([1, INPUT]);
      for (const length of [4, 5]) {
        const transcript = WHOLE.slice(0, length);
        expect(await store.saveRun(lease, { transcript }, undefined, { stored: length - 1, input: 3 })).to.equal(true);
        expect([await copies('once'), await transcriptOf('once')]).to.deep.equal([1, transcript]);
      }
      await store.saveRun(lease, { ...ENDED, transcript: WHOLE }, undefined, { stored: 5, input: 3 });
      expect([await copies('once'), await transcriptOf('once')]).to.deep.equal([1, WHOLE]);
      expect((await store.findRequest('ann', 'once'))?.transcript).to.deep.equal(WHOLE);
      await new RunRetention(opened.database, { now: () => 8 * 86_400_000 }).sweep();
      expect(await copies('once')).to.equal(0);
      expect(await transcriptOf('once')).to.have.length(1);
    });

    it('is read of a run that an earlier version recorded, and not stored twice by the next write', async () => {
      const lease = await begin('before');
      await write('before', { transcript: JSON.stringify(WHOLE.slice(0, 4)) });
      expect([await copies('before'), await transcriptOf('before')]).to.deep.equal([2, WHOLE.slice(0, 4)]);
      const claimed = await store.claim(lease, 'other');
      expect(claimed?.run.transcript).to.deep.equal(WHOLE.slice(0, 4));
      await store.saveRun(claimed!.lease, { transcript: WHOLE }, undefined, { stored: 4, input: 3 });
      expect(await transcriptOf('before')).to.deep.equal(WHOLE);
      await store.saveRun(claimed!.lease, { ...ENDED, transcript: WHOLE }, undefined, { stored: 5, input: 3 });
      expect([await copies('before'), await transcriptOf('before')]).to.deep.equal([1, WHOLE]);
    });

    it('is read of a run that a process of an earlier version has gone on with', async () => {
      const lease = await begin('mixed');
      await store.saveRun(lease, { ...ENDED, transcript: WHOLE.slice(0, 4) }, undefined, { stored: 3, input: 3 });
      await write('mixed', { transcript: JSON.stringify(WHOLE) });
      expect(await transcriptOf('mixed')).to.deep.equal(WHOLE);
    });
  });
}
