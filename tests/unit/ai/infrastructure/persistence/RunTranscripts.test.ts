import { expect } from 'chai';
import { assistantMessage, userMessage } from '../../../../../imports/business/ai/domain/entities/Message';
import type { Item } from '../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { DocumentRunViews } from '../../../../../imports/business/ai/infrastructure/persistence/runs/DocumentRunViews';
import { openRunStore } from '../../../../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import type { DocumentRunStore } from '../../../../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import {
  RUN_ITEMS,
  RunTranscripts,
} from '../../../../../imports/business/ai/infrastructure/persistence/runs/RunTranscripts';
import { DATABASES } from '../../../../support/documentDatabases';
import type { TestDatabase } from '../../../../support/documentDatabases';
import { runRequest } from '../../../../support/runRequests';

const QUESTION = userMessage('A question');
const items = (...texts: readonly string[]): Item[] => texts.map((text) => assistantMessage(text));

describe('RunTranscripts', () => {
  let opened: TestDatabase;
  let store: DocumentRunStore;
  beforeEach(async () => {
    opened = await DATABASES['embedded (SQLite)']();
    store = await openRunStore(opened.database);
  });
  afterEach(() => opened.close());

  const transcript = async (): Promise<readonly Item[] | undefined> => (await store.load('r'))?.run.transcript;
  const parts = (): Promise<number> => opened.database.collection(RUN_ITEMS).count({});

  it('stores what a transcript has grown by, and puts it together for everyone who reads the run', async () => {
    const lease = await store.create(runRequest('r'), 'running', 'me');
    const grown = [QUESTION, ...items('a')];
    expect(await store.saveRun(lease, { transcript: grown }, undefined, { stored: 1 })).to.equal(true);
    const longer = [...grown, ...items('b', 'c')];
    expect(await store.saveRun(lease, { transcript: longer }, undefined, { stored: 2 })).to.equal(true);
    expect(await parts()).to.equal(2);
    expect(await transcript()).to.deep.equal(longer);
    expect((await store.findRequest('ann', 'r'))?.transcript).to.deep.equal(longer);
    const view = await new DocumentRunViews(opened.database).run('r');
    expect(JSON.parse(view?.transcript ?? '')).to.deep.equal(longer);
    expect(view).not.to.have.property('transcriptItems');
  });

  it('has one document again when the run has ended', async () => {
    const lease = await store.create(runRequest('r'), 'running', 'me');
    const grown = [QUESTION, ...items('a')];
    await store.saveRun(lease, { transcript: grown }, undefined, { stored: 1 });
    expect(
      await store.saveRun(lease, { transcript: grown, state: 'completed', endedAt: 1 }, undefined, { stored: 2 }),
    ).to.equal(true);
    expect(await parts()).to.equal(0);
    expect(await transcript()).to.deep.equal(grown);
  });

  it('keeps a transcript that is too long for one document in its parts', async () => {
    const lease = await store.create(runRequest('r'), 'running', 'me');
    const first = [QUESTION, ...items('x'.repeat(8_000_000))];
    await store.saveRun(lease, { transcript: first }, undefined, { stored: 1 });
    const all = [...first, ...items('y'.repeat(8_000_000))];
    expect(
      await store.saveRun(lease, { transcript: all, state: 'completed', endedAt: 1 }, undefined, { stored: 2 }),
    ).to.equal(true);
    expect((await store.load('r'))?.run).to.deep.include({ state: 'completed', transcript: all });
  });

  it('counts nothing that an owner added without recording it, before or after it lost the run', async () => {
    const lost = await store.create(runRequest('r'), 'running', 'me');
    const written = new RunTranscripts(opened.database.collection(RUN_ITEMS));
    await store.saveRun(lost, { transcript: [QUESTION, ...items('a')] }, undefined, { stored: 1 });
    await written.add(lost, items('never recorded', 'nor this'), 2);
    expect(await transcript()).to.deep.equal([QUESTION, ...items('a')]);
    const claimed = await store.claim(lost, 'other');
    expect(claimed?.run.transcript).to.deep.equal([QUESTION, ...items('a')]);
    if (claimed === undefined) throw new Error('The run was not claimed.');
    const next = [QUESTION, ...items('a', 'b')];
    await store.saveRun(claimed.lease, { transcript: next }, undefined, { stored: 2 });
    await written.add(lost, items('too late'), 3);
    expect(await store.saveRun(lost, { transcript: [...next, ...items('z')] }, undefined, { stored: 3 })).to.equal(
      false,
    );
    expect(await transcript()).to.deep.equal(next);
    const longer = [...next, ...items('c', 'd')];
    await store.saveRun(claimed.lease, { transcript: longer }, undefined, { stored: 3 });
    expect(await transcript()).to.deep.equal(longer);
  });

  it('replaces what a failed attempt at the same write added', async () => {
    const lease = await store.create(runRequest('r'), 'running', 'me');
    await new RunTranscripts(opened.database.collection(RUN_ITEMS)).add(lease, items('a'), 1);
    const grown = [QUESTION, ...items('a', 'b')];
    await store.saveRun(lease, { transcript: grown }, undefined, { stored: 1 });
    expect(await parts()).to.equal(1);
    expect(await transcript()).to.deep.equal(grown);
  });

  it('reads a transcript that was stored as a whole, and parts that follow it', async () => {
    const lease = await store.create(runRequest('r'), 'running', 'me');
    await store.saveRun(lease, { transcript: [QUESTION, ...items('part')] }, undefined, { stored: 1 });
    const whole = [QUESTION, ...items('a', 'b')];
    await store.saveRun(lease, { transcript: whole });
    expect(await transcript()).to.deep.equal(whole);
    const grown = [...whole, ...items('c')];
    await store.saveRun(lease, { transcript: grown }, undefined, { stored: 3 });
    expect(await transcript()).to.deep.equal(grown);
  });
});
