/** What the documents of calls state about waiting for people and other services, in every store. */
import { expect } from 'chai';
import sinon from 'sinon';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { argumentsHash } from '../../imports/business/ai/application/services/shared/argumentsHash';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { DocumentRunViews } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunViews';
import { TOOL_CALLS } from '../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import type { ToolCallDocument } from '../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { ToolCallView } from '../../imports/business/ai/domain/types/RunViews';
import { answer, calling } from '../../imports/testing/responses';
import { ScriptedProvider } from '../../imports/testing/ScriptedProvider';
import { QUICK_DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { recordEvents } from '../support/recordEvents';
import { RecordingLogger } from '../support/RecordingLogger';
import { until } from '../support/until';

const DAY_MS = 24 * 60 * 60 * 1000;

for (const [name, open] of Object.entries(QUICK_DATABASES)) {
  describe(`a stored call that waits (${name})`, () => {
    let opened: TestDatabase;
    const loops: AgenticLoop[] = [];
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(async () => {
      sinon.restore();
      await Promise.all(loops.splice(0).map((loop) => loop.close()));
      await opened.close();
    });

    const start = async (script: ConstructorParameters<typeof ScriptedProvider>[0]): Promise<AgenticLoop> => {
      const loop = new AgenticLoop({
        provider: new ScriptedProvider(script),
        toolExecutor: new ToolRegistry()
          .register({ name: 'ask', needsApproval: true, execute: () => 'done' })
          .register({ name: 'hook', kind: 'external', timeout: 60_000 })
          .register({ name: 'slow', execute: () => new Promise(() => undefined) }),
        runStore: await openRunStore(opened.database),
        leaseTimes: { heartbeat: 5 },
        logger: new RecordingLogger(),
      });
      loops.push(loop);
      return loop;
    };
    const stored = async (): Promise<ToolCallView | undefined> =>
      (await new DocumentRunViews(opened.database).toolCalls('r', 10))[0];
    const waitingFor = (waiting: string | undefined, state: string): Promise<void> =>
      until(async () => {
        const call = await stored();
        return call?.state === state && call.waiting === waiting;
      });
    const execute = (loop: AgenticLoop, tool: string): Promise<unknown> =>
      loop.execute('ann', { model: 'm', input: 'go', tools: [tool], executionId: 'r' });

    it('states that it waits for an approval, until when, and of which arguments', async () => {
      const long = JSON.stringify({ text: 'x'.repeat(20_000) });
      const loop = await start([calling({ name: 'ask', call_id: 'c', arguments: long }), answer('done')]);
      const record = recordEvents(loop);
      const done = execute(loop, 'ask');
      await waitingFor('approval', 'awaiting_approval');
      const call = await stored();
      expect(call?.arguments).to.have.length(16 * 1024);
      expect(call).to.include({ argumentsHash: argumentsHash(long), argumentsLength: long.length });
      expect((call?.expiresAt ?? 0) - DAY_MS).to.be.closeTo(Date.now(), 60_000);
      expect(record.events.find(({ type }) => type === 'tool:approval_required')).to.include({
        expiresAt: call?.expiresAt,
      });
      await loop.approve('r', 'c', argumentsHash(long));
      await done;
      expect(await stored())
        .to.include({ state: 'completed' })
        .and.not.have.any.keys(WAIT_FIELDS);
    });

    it('states that it waits for a result from outside, and no longer once it has one', async () => {
      advanceAtEveryReading();
      const loop = await start([calling({ name: 'hook', call_id: 'c' }), answer('done')]);
      const done = execute(loop, 'hook');
      await waitingFor('external', 'executing');
      const call = await stored();
      expect(call?.expiresAt).to.equal((call?.startTime ?? 0) + 60_000);
      await loop.submitToolResult('r', 'c', { output: 1 });
      await done;
      expect(await stored())
        .to.include({ state: 'completed' })
        .and.not.have.any.keys(WAIT_FIELDS);
    });

    it('says who decided, and when, also to a process that continues the run', async () => {
      const loop = await start([calling({ name: 'ask', call_id: 'c' }), answer('done')]);
      const done = execute(loop, 'ask');
      await waitingFor('approval', 'awaiting_approval');
      const by = { userId: 'ann', tokenId: 't', at: 7 };
      await loop.approve('r', 'c', argumentsHash('{}'), by);
      await done;
      expect((await stored())?.decidedBy).to.deep.equal(by);
      const store = await openRunStore(opened.database);
      expect((await store.load('r'))?.calls[0]?.decidedBy).to.deep.equal(by);
    });

    it('says who rejected it, and who submitted its result', async () => {
      const by = { userId: 'bob', at: 8 };
      const loop = await start([calling({ name: 'ask', call_id: 'c' }), answer('done')]);
      const done = execute(loop, 'ask');
      await waitingFor('approval', 'awaiting_approval');
      const other = await start([]);
      await other.reject('r', 'c', 'No.', undefined, by);
      await done;
      expect(await stored()).to.deep.include({ state: 'failed', decidedBy: by });
    });

    it('does not wait for anyone while a tool of the server works', async () => {
      const loop = await start([calling({ name: 'slow', call_id: 'c' }), answer('done')]);
      void execute(loop, 'slow').catch(() => undefined);
      await waitingFor(undefined, 'executing');
      expect(await stored()).not.to.have.any.keys(WAIT_FIELDS);
    });

    it('is reviewed within a day, however often its run is taken over meanwhile', async () => {
      const first = await start([calling({ name: 'slow', call_id: 'c' })]);
      void execute(first, 'slow').catch(() => undefined);
      await waitingFor(undefined, 'executing');
      await first.close();
      const second = await start([]);
      void second.resume('r').catch(() => undefined);
      await waitingFor('review', 'needs_review');
      const { expiresAt } = (await stored()) ?? {};
      expect((expiresAt ?? 0) - DAY_MS).to.be.closeTo(Date.now(), 60_000);
      await second.close();
      await rewrite(opened, (call) => ({ ...call, expiresAt: Date.now() - 1 }));
      const third = await start([answer('done')]);
      await third.resume('r');
      expect(await stored())
        .to.include({ state: 'failed' })
        .and.not.have.any.keys(WAIT_FIELDS);
    });

    it('receives the fields on takeover if an older version started it', async () => {
      const first = await start([calling({ name: 'hook', call_id: 'c' })]);
      void execute(first, 'hook').catch(() => undefined);
      await waitingFor('external', 'executing');
      await first.close();
      await rewrite(opened, ({ expiresAt: _expiresAt, ...call }) => call);
      advanceAtEveryReading();
      const second = await start([]);
      void second.resume('r').catch(() => undefined);
      await waitingFor('external', 'executing');
      const call = await stored();
      expect(call?.expiresAt).to.equal((call?.startTime ?? 0) + 60_000);
    });
  });
}

/** Two readings of the clock differ. */
function advanceAtEveryReading(): void {
  let now = Date.now();
  sinon.stub(Date, 'now').callsFake(() => (now += 7));
}

const WAIT_FIELDS = ['waiting', 'expiresAt', 'argumentsHash', 'argumentsLength'];

/** Changes the stored call, and removes what a version without waits does not store. */
async function rewrite(
  { database }: TestDatabase,
  change: (call: Record<string, unknown>) => Record<string, unknown>,
): Promise<void> {
  const calls = database.collection<ToolCallDocument>(TOOL_CALLS);
  const document = await calls.findOne({ executionId: 'r' });
  const call = JSON.stringify(change(JSON.parse(document?.call ?? '') as Record<string, unknown>));
  await calls.update(
    { executionId: 'r' },
    { $set: { call }, $unset: Object.fromEntries(WAIT_FIELDS.map((field) => [field, true] as const)) },
  );
}
