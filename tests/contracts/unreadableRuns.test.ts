/** Runs that cannot be restored from what is stored of them: they are set aside once, shown, and ended or resumed. */
import { expect } from 'chai';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { endUserRuns } from '../../imports/business/ai/application/services/endUserRuns';
import { RunRecovery } from '../../imports/business/ai/application/services/RunRecovery';
import { UnreadableRunError } from '../../imports/business/ai/domain/errors/UnreadableRunError';
import { DocumentInbox } from '../../imports/business/ai/infrastructure/persistence/inbox/DocumentInbox';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import type { DocumentRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { RUNS, TOOL_CALLS } from '../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer } from '../../imports/testing/responses';
import { ScriptedProvider } from '../../imports/testing/ScriptedProvider';
import { QUICK_DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { failure } from '../support/failure';
import { RecordingLogger } from '../support/RecordingLogger';
import { runRequest, toolCall } from '../support/runRequests';
import { until } from '../support/until';

const RUN = 'run';
/** What another version, or someone else, may have left. */
const DAMAGES = {
  'a transcript that is no JSON': { transcript: 'secret words' },
  'a transcript of another shape': { transcript: '{"items":[]}' },
  'a plan of another shape': { plan: 'null' },
  'no usage': { usage: null },
} as const;

for (const [name, open] of Object.entries(QUICK_DATABASES)) {
  describe(`a run that cannot be read (${name})`, () => {
    let opened: TestDatabase;
    let store: DocumentRunStore;
    let logger: RecordingLogger;
    beforeEach(async () => {
      opened = await open();
      store = await openRunStore(opened.database);
      logger = new RecordingLogger();
    });
    afterEach(() => opened.close());

    const loopOf = (): AgenticLoop =>
      new AgenticLoop({
        provider: new ScriptedProvider([answer('done')]),
        toolExecutor: new ToolRegistry().register({ name: 'clock', needsApproval: true, execute: () => 'noon' }),
        runStore: store,
        logger,
      });
    const write = (fields: object): Promise<number> =>
      opened.database.collection(RUNS).update({ _id: RUN }, { $set: { ...fields } });
    const leave = async (damage: object): Promise<void> => {
      const lease = await store.create(runRequest(RUN), 'running', 'gone');
      await store.saveCalls(lease, [toolCall('c', { state: 'awaiting_approval' })]);
      await write(damage);
    };
    const recover = async (loop: AgenticLoop): Promise<number> => {
      const recovery = new RunRecovery({ loop, store, logger });
      const taken = await recovery.scan();
      await until(() => Promise.resolve(!loop.local.has(RUN)));
      return taken;
    };

    for (const [what, damage] of Object.entries(DAMAGES))
      it(`is set aside with its reason, and not claimed again: ${what}`, async () => {
        await leave(damage);
        const loop = loopOf();
        expect(await recover(loop)).to.equal(1);
        const parked = await store.head(RUN);
        expect(parked).to.deep.include({ state: 'waiting', owner: '', parked: { reason: 'unreadable' } });
        expect(await recover(loop)).to.equal(0);
        expect((await store.head(RUN))?.fence).to.equal(parked?.fence);
        const inbox = new DocumentInbox(opened.database);
        const [entry] = await inbox.entries({ kinds: ['parked'], filter: {}, order: 'asc', limit: 10 });
        const message = entry?.kind === 'parked' ? entry.parked.message : '';
        expect(message).to.match(/^What is stored of the run "run" cannot be read: /);
        // What people wrote is no part of the reason.
        expect(message).not.to.include('secret');
      });

    it('is ended by a person, with its calls, before and after it is set aside', async () => {
      for (const isParked of [true, false]) {
        await leave(DAMAGES['a transcript that is no JSON']);
        const loop = loopOf();
        if (isParked) await recover(loop);
        expect(await loop.cancel(RUN)).to.equal(isParked ? 'cancelled' : 'running');
        if (!isParked) await recover(loop);
        if (!isParked) await new RunRecovery({ loop, store, logger }).scan();
        expect((await store.head(RUN))?.state).to.equal('cancelled');
        expect(await opened.database.collection(TOOL_CALLS).count({ state: 'awaiting_approval' })).to.equal(0);
        expect(await store.commands(10)).to.deep.equal([]);
        await opened.database.collection(RUNS).remove({ _id: RUN });
        await opened.database.collection(TOOL_CALLS).remove({ executionId: RUN });
      }
    });

    it('is tried again when a person resumes it, and set aside again while it still cannot be read', async () => {
      await leave(DAMAGES['a plan of another shape']);
      const loop = loopOf();
      await recover(loop);
      expect(await failure(loop.resumeParked(RUN))).to.be.instanceOf(UnreadableRunError);
      expect((await store.head(RUN))?.parked?.reason).to.equal('unreadable');
      await write({ plan: JSON.stringify(runRequest(RUN).plan) });
      await loop.resumeParked(RUN);
      await loop.reject(RUN, 'c');
      expect((await loop.waitForResult(RUN)).response.output_text).to.equal('done');
    });

    it('is ended when its user is deleted', async () => {
      await leave(DAMAGES['no usage']);
      const loop = loopOf();
      await endUserRuns({ loop, store, patienceMs: 50 }, 'ann');
      expect((await store.head(RUN))?.state).to.equal('cancelled');
      expect(await store.unfinishedOf('ann', 10)).to.deep.equal([]);
    });

    it('is set aside when it was queued', async () => {
      await store.create(runRequest(RUN), 'queued', '');
      await write(DAMAGES['a plan of another shape']);
      expect(await failure(loopOf().claims.startQueued(RUN))).to.be.instanceOf(UnreadableRunError);
      expect(await store.queued(10)).to.deep.equal([]);
      expect((await store.head(RUN))?.parked?.reason).to.equal('unreadable');
    });
  });
}
