/** The contract of every run store. */
import { expect } from 'chai';
import { assistantMessage, userMessage } from '../../imports/business/ai/domain/entities/Message';
import { RUN_TRANSITIONS, UNOWNED } from '../../imports/business/ai/domain/entities/Run';
import { ConflictError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { RunStore } from '../../imports/business/ai/domain/interfaces/RunStore';
import type { LeasedRun, RunLease } from '../../imports/business/ai/domain/types/RunRecords';
import { failure } from '../support/failure';
import { answer, usage } from '../../imports/testing/responses';
import { runRequest, toolCall } from '../support/runRequests';
import { RUN_STORES } from '../support/runStores';
import type { TestRunStore } from '../support/runStores';
import { inFlowingTime } from '../support/VirtualTime';

for (const [name, open] of Object.entries(RUN_STORES)) {
  describe(
    `RunStore: ${name}`,
    inFlowingTime(() => {
      let opened: TestRunStore;
      let store: RunStore;
      let count = 0;
      let id: string;

      before(async () => {
        opened = await open();
        store = opened.store;
      });
      after(() => opened.close());
      beforeEach(() => {
        count += 1;
        id = `run-${count}`;
      });

      const begin = (): Promise<RunLease> => store.create(runRequest(id), 'running', 'a');
      const take = async (lease: RunLease, owner = 'b') => {
        const claimed = await store.claim(lease, owner);
        if (claimed === undefined) throw new Error('it could not be claimed');
        return claimed;
      };

      it('returns the request unchanged', async () => {
        const request = runRequest(id, {
          model: 'gpt',
          input: [
            userMessage('\ud800 $x.y'),
            userMessage([{ type: 'input_image', image_url: 'data:,', vendor: { openai: { $a: { 'b.c': null } } } }]),
          ],
        });
        await store.create(request, 'running', 'a');
        const { run, calls } = (await store.load(id))!;
        expect(run).to.deep.include({
          ...(JSON.parse(JSON.stringify(request)) as object),
          state: 'running',
          owner: 'a',
          fence: 1,
          iterations: 0,
          isCalling: false,
          usage: usage(0, 0),
          seq: 0,
          worked: 0,
          failedTurns: 0,
          turnStart: 2,
        });
        expect(run.transcript).to.deep.equal(run.input);
        expect(calls).to.deep.equal([]);
        expect(await store.load('nothing')).to.equal(undefined);
      });

      it('refuses an id that is taken, and a second run for one request of a user', async () => {
        await begin();
        expect(await failure(begin())).to.be.instanceOf(ConflictError);
        expect(
          await failure(store.create(runRequest(`${id}-other`, { requestId: id }), 'running', 'a')),
        ).to.be.instanceOf(ConflictError);
        expect(await store.load(`${id}-other`)).to.equal(undefined);
        await store.create(runRequest(`${id}-bob`, { requestId: id, userId: 'bob' }), 'running', 'a');
        expect((await store.findRequest('ann', id))?.executionId).to.equal(id);
        expect((await store.findRequest('bob', id))?.executionId).to.equal(`${id}-bob`);
        expect(await store.findRequest('eve', id)).to.equal(undefined);
      });

      it('lets one of many concurrent creations succeed', async () => {
        const outcomes = await Promise.allSettled(
          Array.from({ length: 8 }, (_each, n) =>
            store.create(runRequest(`${id}-${n}`, { requestId: id }), 'running', 'a'),
          ),
        );
        expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
      });

      it('stores a run’s progress field by field', async () => {
        const lease = await begin();
        const transcript = [userMessage('A question'), assistantMessage('An answer')];
        const response = answer('An answer');
        expect(
          await store.saveRun(lease, {
            transcript,
            iterations: 1,
            isCalling: true,
            turnStart: 1,
            seq: 7,
            worked: 3,
            failedTurns: 1,
          }),
        ).to.equal(true);
        expect(
          await store.saveRun(lease, {
            response,
            isCalling: false,
            usage: { ...usage(10, 5), estimated: true },
            cost: 0.5,
          }),
        ).to.equal(true);
        const { run } = (await store.load(id))!;
        expect(run).to.deep.include({
          transcript,
          response,
          iterations: 1,
          isCalling: false,
          turnStart: 1,
          seq: 7,
          worked: 3,
          failedTurns: 1,
          usage: { ...usage(10, 5), estimated: true },
          cost: 0.5,
        });
      });

      it('stores complete calls, in the order in which they were made', async () => {
        const lease = await begin();
        const second = toolCall('a', { createdAt: 2_000, arguments: 'x'.repeat(40_000) });
        const first = toolCall('b', { state: 'executing', startTime: 5, progress: { fraction: 0.5, note: 'half' } });
        expect(await store.saveCalls(lease, [first])).to.equal(true);
        expect(await store.saveCalls(lease, [second])).to.equal(true);
        const done = toolCall('b', {
          state: 'completed',
          startTime: 5,
          endTime: 9,
          executionTime: 4,
          result: 'y'.repeat(40_000),
        });
        expect(await store.saveCalls(lease, [done])).to.equal(true);
        expect((await store.load(id))!.calls).to.deep.equal([done, second]);
      });

      it('reads the calls that were written with the run, until they are stored as settled', async () => {
        const lease = await begin();
        const executing = (callId: string, startTime: number) => toolCall(callId, { state: 'executing', startTime });
        const odd = 'a.$call \u{1F600}';
        const open = [executing('b', 5), executing(odd, 6)];
        expect(await store.saveRun(lease, { iterations: 1 }, { changed: open, settled: [] })).to.equal(true);
        expect((await store.load(id))!.calls).to.have.deep.members(open);
        // Stored before the run recorded that it runs again.
        await store.saveCalls(lease, [toolCall('b', { state: 'needs_review', startTime: 5 })]);
        await store.saveRun(lease, {}, { changed: [executing('b', 9)], settled: [] });
        const done = toolCall(odd, { state: 'completed', startTime: 6, endTime: 7, executionTime: 1, result: 'y' });
        expect(await store.saveCalls(lease, [done])).to.equal(true);
        expect((await store.load(id))!.calls).to.have.deep.members([executing('b', 9), done]);
        expect(await store.saveRun(lease, { iterations: 2 }, { changed: [], settled: [odd] })).to.equal(true);
        const claimed = await take(lease);
        expect(claimed.calls).to.have.deep.members([executing('b', 9), done]);
        expect(await store.saveRun(lease, {}, { changed: [executing('c', 1)], settled: [] })).to.equal(false);
        expect((await store.load(id))!.calls).to.have.length(2);
      });

      it('has another version of a run once it, or one of its calls, is written with something new', async () => {
        const lease = await begin();
        const versions: (string | undefined)[] = [];
        const look = async (): Promise<void> => {
          const version = (await store.versions([id, 'nothing'])).get(id);
          expect((await store.load(id))?.version).to.equal(version);
          versions.push(version);
        };
        await look();
        await store.saveRun(lease, { seq: 1, isCalling: true });
        await look();
        await store.saveCalls(lease, [toolCall('c', { state: 'executing', startTime: 1 })]);
        await look();
        await store.saveCalls(lease, [toolCall('c', { state: 'executing', startTime: 1, expiresAt: 2 })]);
        await look();
        await store.saveCalls(lease, [
          toolCall('c', { state: 'completed', startTime: 1, endTime: 2, executionTime: 1, result: 'r' }),
        ]);
        await look();
        await take(lease);
        await look();
        expect(new Set(versions).size).to.equal(6);
        await look();
        expect(new Set(versions).size).to.equal(6);
        expect([...(await store.versions(['nothing'])).keys()]).to.deep.equal([]);
      });

      it('has the later state of a call whichever of its writes arrives last', async () => {
        const lease = await begin();
        const waiting = (callId: string) => toolCall(callId, { state: 'awaiting_approval', expiresAt: 9_000 });
        const executing = (callId: string) => toolCall(callId, { state: 'executing', startTime: 5, isApproved: true });
        const done = toolCall('b', { state: 'completed', startTime: 5, endTime: 7, executionTime: 2, result: 'y' });
        await store.saveRun(lease, {}, { changed: [waiting('a'), waiting('b')], settled: [] });
        await store.saveRun(lease, {}, { changed: [executing('a')], settled: [] });
        await store.saveCalls(lease, [waiting('a'), done]);
        await store.saveRun(lease, {}, { changed: [executing('b')], settled: [] });
        const progressed = { ...executing('a'), progress: { fraction: 0.5 } };
        expect((await store.load(id))!.calls).to.have.deep.members([executing('a'), done]);
        await store.saveCalls(lease, [progressed]);
        expect((await store.load(id))!.calls).to.have.deep.members([progressed, done]);
        const answers = [
          {
            input: { id: 'q', message: 'Sure?' },
            ...{ expiresAt: 9_000, answeredAt: 8_000 },
            answer: { action: 'accept', values: '{}' },
          },
        ] as const;
        const answered = { ...executing('a'), answers };
        await store.saveRun(lease, {}, { changed: [answered], settled: [] });
        expect((await take(lease)).calls).to.have.deep.members([answered, done]);
      });

      it('ends a run once: it can be neither written to nor claimed afterwards', async () => {
        const lease = await begin();
        expect(
          await store.saveRun(lease, { state: 'failed', endedAt: 9, error: { code: 'refused', message: 'no' } }),
        ).to.equal(true);
        expect(await store.saveRun(lease, { state: 'completed' })).to.equal(false);
        expect(await store.claim(lease, 'b')).to.equal(undefined);
        expect((await store.load(id))!.run).to.deep.include({
          state: 'failed',
          endedAt: 9,
          error: { code: 'refused', message: 'no' },
          owner: 'a',
          fence: 1,
        });
        expect((await store.leased(1_000)).map(({ executionId }) => executionId)).not.to.include(id);
      });

      describe('fencing tokens', () => {
        it('let one claimant have a run, with everything its last owner wrote', async () => {
          const lease = await begin();
          await store.saveCalls(lease, [toolCall('c')]);
          await store.saveRun(lease, { iterations: 3 });
          const claims = await Promise.all(['b', 'c', 'd'].map((owner) => store.claim(lease, owner)));
          const won = claims.filter((claim) => claim !== undefined);
          expect(won).to.have.length(1);
          expect(won[0]!.lease).to.deep.equal({ executionId: id, userId: 'ann', owner: won[0]!.run.owner, fence: 2 });
          expect(won[0]!.run).to.deep.include({ iterations: 3, fence: 2 });
          expect(won[0]!.calls).to.deep.equal([toolCall('c')]);
        });

        it('refuse the writes of an owner that lost the run, to the run and to its calls', async () => {
          const old = await begin();
          await store.saveCalls(old, [toolCall('c')]);
          const { lease } = await take(old);
          expect(await store.saveRun(old, { iterations: 9 })).to.equal(false);
          expect(await store.saveCalls(old, [toolCall('c', { state: 'executing', startTime: 1 })])).to.equal(false);
          expect(await store.saveCalls(old, [toolCall('d', { state: 'executing', startTime: 1 })])).to.equal(false);
          expect(await store.saveCalls(old, [toolCall('c', { state: 'executing', startTime: 1 })])).to.equal(false);
          expect((await store.load(id))!.run.iterations).to.equal(0);
          expect((await store.load(id))!.calls[0]).to.deep.equal(toolCall('c'));
          expect(await store.saveRun(lease, { iterations: 1 })).to.equal(true);
          expect(await store.saveCalls(lease, [toolCall('c', { state: 'executing', startTime: 2 })])).to.equal(true);
        });

        it('let the new owner overwrite a call that the old one added too late', async () => {
          const old = await begin();
          const { lease } = await take(old);
          await store.saveCalls(old, [toolCall('c', { state: 'executing', startTime: 1 })]);
          expect(await store.saveCalls(lease, [toolCall('c', { state: 'executing', startTime: 2 })])).to.equal(true);
          expect((await store.load(id))!.calls).to.deep.equal([toolCall('c', { state: 'executing', startTime: 2 })]);
          expect(await store.saveCalls(old, [toolCall('c')])).to.equal(false);
        });

        it('rise with every owner', async () => {
          let { lease } = await take(await begin());
          for (let fence = 3; fence < 6; fence += 1) {
            ({ lease } = await take(lease, 'a'));
            expect(lease.fence).to.equal(fence);
          }
        });
      });

      describe('claims of many orphaned runs', () => {
        const beginAll = (...names: readonly string[]): Promise<readonly RunLease[]> =>
          Promise.all(names.map((each) => store.create(runRequest(`${id}-${each}`), 'running', 'a')));
        const claimAll = (leases: readonly RunLease[], owner: string) =>
          store.claimOrphans(
            leases.map((lease) => ({ lease, suspicion: { takeovers: 1 } })),
            owner,
          );

        it('give each to one claimant, with everything its last owner wrote', async () => {
          const leases = await beginAll('x', 'y', 'z');
          const [first, ...others] = leases;
          await store.saveCalls(first!, [toolCall('c', { state: 'executing', startTime: 1 })]);
          // A person resumes one, another has ended, and one was taken over before.
          await take(first!, 'b');
          await store.saveRun(others[0]!, { state: 'cancelled', endedAt: 1 });
          expect([...(await claimAll(leases, 'b')).keys()]).to.deep.equal([`${id}-z`]);
          const [x] = (await store.leased(1_000)).filter(({ executionId }) => executionId === `${id}-x`);
          const claimed = (await claimAll([x!], 'c')).get(`${id}-x`);
          if (claimed === undefined || claimed instanceof Error) throw new Error('it was not claimed');
          expect(claimed.lease).to.deep.equal({ executionId: `${id}-x`, userId: 'ann', owner: 'c', fence: 3 });
          expect(claimed.run).to.include({ owner: 'c', fence: 3, takeovers: 1 });
          expect(claimed.run.transcript).to.deep.equal(claimed.run.input);
          expect(claimed.calls.map((call) => [call.id, call.state])).to.deep.equal([['c', 'executing']]);
        });

        it('share no run, however many processes claim at once', async () => {
          const leases = await beginAll('0', '1', '2', '3', '4', '5', '6', '7');
          const single = leases.map((lease) => store.claim(lease, 'b'));
          const all = await Promise.all(['b', 'c', 'b', 'd'].map((owner) => claimAll(leases, owner)));
          const claimed = [
            ...all.flatMap((runs) => [...runs.values()]),
            ...(await Promise.all(single)).filter((run) => run !== undefined),
          ];
          expect(claimed).to.have.length(leases.length);
          for (const run of claimed) {
            if (run instanceof Error) throw run;
            expect(await store.saveRun(run.lease, { iterations: 1 })).to.equal(true);
          }
        });

        it('take from the last owners the right to write, to the runs and to their calls', async () => {
          const leases = await beginAll('x', 'y');
          for (const lease of leases)
            await store.saveCalls(lease, [toolCall('c', { state: 'executing', startTime: 1 })]);
          await claimAll(leases, 'b');
          for (const lease of leases) {
            expect(await store.saveRun(lease, { iterations: 9 })).to.equal(false);
            expect(
              await store.saveCalls(lease, [
                toolCall('c', { state: 'completed', startTime: 1, endTime: 2, executionTime: 1, result: '' }),
              ]),
            ).to.equal(false);
            expect((await store.load(lease.executionId))?.calls[0]?.state).to.equal('executing');
          }
        });

        it('are cleared of suspicion together, except for those that have another owner by now', async () => {
          const leases = await beginAll('x', 'y', 'z');
          const claimed = [...(await claimAll(leases, 'b')).values()].flatMap((run) =>
            run instanceof Error ? [] : [run.lease],
          );
          await store.claim(claimed[1]!, 'c', 'orphaned');
          await store.clearTakeovers(claimed);
          const takeovers = async (name: string): Promise<number | undefined> =>
            (await store.load(`${id}-${name}`))?.run.takeovers;
          expect([await takeovers('x'), await takeovers('y'), await takeovers('z')]).to.deep.equal([0, 2, 0]);
        });
      });

      it('lists unfinished runs by owner; a queued run has none and can be claimed', async () => {
        const heldHere = async (): Promise<readonly LeasedRun[]> =>
          (await store.leased(1_000)).filter(({ executionId }) => executionId.startsWith(id));
        const running = await begin();
        const queued = await store.create(runRequest(`${id}-waits`), 'queued', '');
        expect(await heldHere()).to.deep.equal([{ ...running, takeovers: 0 }]);
        const { lease, run } = await take(queued);
        expect(run.state).to.equal('queued');
        expect(await heldHere()).to.have.deep.members([
          { ...running, takeovers: 0 },
          { ...lease, takeovers: 0 },
        ]);
        expect(
          (await store.leased(1_000, ['a'])).filter(({ executionId }) => executionId.startsWith(id)),
        ).to.deep.equal([{ ...lease, takeovers: 0 }]);
        for (const state of Object.keys(RUN_TRANSITIONS) as (keyof typeof RUN_TRANSITIONS)[]) {
          const other = await store.create(runRequest(`${id}-${state}`), 'running', 'z');
          await store.saveRun(other, { state });
          expect((await heldHere()).some(({ executionId }) => executionId === other.executionId)).to.equal(
            RUN_TRANSITIONS[state].length > 0,
          );
        }
      });

      it('counts takeovers of an orphaned run in the write that claims it, until the run makes progress', async () => {
        const seen = async (): Promise<number | undefined> =>
          (await store.leased(1_000)).find(({ executionId }) => executionId === id)?.takeovers;
        const lease = await begin();
        const first = await store.claim(lease, 'b', 'orphaned');
        expect(first?.run.takeovers).to.equal(1);
        expect(await store.claim(lease, 'c', 'orphaned')).to.equal(undefined);
        expect(await seen()).to.equal(1);
        const second = await store.claim(first!.lease, 'c', 'orphaned');
        expect([second?.run.takeovers, await seen()]).to.deep.equal([2, 2]);
        const asked = await store.claim(second!.lease, 'd');
        expect([asked?.run.takeovers, await seen()]).to.deep.equal([2, 2]);
        await store.saveRun(asked!.lease, { takeovers: 0 });
        expect([(await store.load(id))?.run.takeovers, await seen()]).to.deep.equal([0, 0]);
      });

      it('writes what an orphaned run is suspected of with the claim', async () => {
        const seen = async (): Promise<unknown> => {
          return (await store.leased(1_000)).find(({ executionId }) => executionId === id)?.takeovers;
        };
        const tried = await store.claim(await begin(), 'b', 'orphaned', { takeovers: 1_004 });
        expect([tried?.run.takeovers, await seen()]).to.deep.equal([1_004, 1_004]);
        const held = await store.claim(tried!.lease, 'c', 'hold');
        expect(held?.run).to.deep.include({ takeovers: 1_004, input: [], transcript: [] });
        expect((await store.load(id))?.run.input).not.to.deep.equal([]);
        const cleared = await store.claim(held!.lease, 'd', 'orphaned', { takeovers: 1 });
        expect([cleared?.run.takeovers, await seen()]).to.deep.equal([1, 1]);
      });

      it('returns a run that is only to be ended without its conversation, which stays stored', async () => {
        const lease = await begin();
        const transcript = [userMessage('A question'), assistantMessage('An answer')];
        await store.saveRun(lease, {
          transcript,
          response: answer('An answer'),
          iterations: 2,
          seq: 5,
          usage: usage(10, 5),
          cost: 0.5,
          worked: 7,
          turnStart: 1,
        });
        await store.saveCalls(lease, [toolCall('c')]);
        const record = (await store.load(id))!.run;
        const claimed = (await store.claim(lease, 'b', 'end'))!;
        const { response: _response, ...rest } = record;
        expect(claimed.run).to.deep.equal({ ...rest, input: [], transcript: [], owner: 'b', fence: 2 });
        expect(claimed.calls).to.deep.equal([toolCall('c')]);
        await store.saveRun(claimed.lease, {
          state: 'failed',
          endedAt: 9,
          error: { code: 'max-takeovers', message: 'no' },
        });
        expect((await store.load(id))!.run).to.deep.include({
          transcript,
          input: record.input,
          response: record.response,
          state: 'failed',
        });
      });

      it('parks a run, which then has no owner until it is claimed', async () => {
        const lease = await begin();
        await store.saveCalls(lease, [toolCall('c')]);
        const parked = { reason: 'max-takeovers', message: 'It kills.', at: 7 } as const;
        expect(await store.park({ ...lease, fence: 9 }, parked)).to.equal(false);
        expect(await store.park(lease, parked)).to.equal(true);
        const head = (await store.head(id))!;
        expect(head).to.deep.equal({
          executionId: id,
          userId: 'ann',
          owner: '',
          fence: 2,
          state: 'waiting',
          seq: 0,
          parked: { reason: 'max-takeovers' },
        });
        expect((await store.leased(1_000)).some(({ executionId }) => executionId === id)).to.equal(false);
        expect((await store.queued(1_000)).some(({ executionId }) => executionId === id)).to.equal(false);
        expect(await store.unfinishedOf('ann', 1_000)).to.include(id);
        // The last owner can no longer write to it.
        expect(await store.saveRun(lease, { iterations: 9 })).to.equal(false);
        expect(await store.saveCalls(lease, [toolCall('c', { state: 'executing', startTime: 1 })])).to.equal(false);
        expect((await store.load(id))!.run.parked).to.deep.equal(parked);
        const claimed = (await store.claim(head, 'b', 'requested', { takeovers: 0 }))!;
        expect(claimed.run).to.include({ owner: 'b', fence: 3, takeovers: 0 }).and.not.to.have.property('parked');
        expect(await store.park(head, parked)).to.equal(false);
      });

      it('leaves a run to processes that have its tools, until one claims it', async () => {
        const request = runRequest(id, { neededTools: ['a', 'b'] });
        const lease = await store.create(request, 'running', 'gone');
        const awaited = { names: ['b'], since: 1_000 };
        expect(await store.awaitTools({ ...lease, owner: 'other' }, awaited)).to.equal(false);
        expect(await store.awaitTools(lease, awaited)).to.equal(true);
        const needs = { neededTools: ['a', 'b'], awaitedTools: awaited };
        expect(await store.head(id)).to.deep.include({ ...needs, owner: 'gone', fence: 1 });
        const listed = async (tools: readonly string[], since: number): Promise<LeasedRun | undefined> =>
          (await store.leased(1_000, [], { tools, since })).find(({ executionId }) => executionId === id);
        expect(await listed(['a'], 1_000)).to.deep.include(needs);
        expect(await listed(['a', 'b'], 1_000)).to.equal(undefined);
        expect(await listed(['b'], 1_001)).to.deep.include(needs);
        expect((await take(lease)).run).to.not.have.property('awaitedTools');
      });

      it('leaves a run that has no owner to any process that has its tools', async () => {
        const lease = await store.create(runRequest(id), 'queued', '');
        await store.awaitTools(lease, { names: ['b'], since: 1_000 });
        expect(await store.head(id)).to.include({ owner: UNOWNED, state: 'queued' });
        expect((await store.queued(1_000)).map(({ executionId }) => executionId)).to.not.include(id);
        expect((await take(lease)).run.takeovers).to.equal(0);
      });

      it('ends a run without reading it', async () => {
        const lease = await begin();
        await store.saveCalls(lease, [toolCall('c', { state: 'executing', startTime: 1 })]);
        const end = { state: 'cancelled', endedAt: 9, error: { code: 'aborted', message: 'no' } } as const;
        await store.park(lease, { reason: 'unreadable', message: 'no', at: 1 });
        expect(await store.end(lease, end)).to.equal(false);
        const head = (await store.head(id))!;
        expect(await store.end(head, end)).to.equal(true);
        const { run } = (await store.load(id))!;
        expect(run).to.deep.include(end).and.not.to.have.property('parked');
        expect(await store.end((await store.head(id))!, end)).to.equal(false);
        expect(await store.head('nothing')).to.equal(undefined);
      });

      it('counts the heartbeats of owners, and removes owners that leave', async () => {
        await store.heartbeat(`${id}-a`);
        await store.heartbeat(`${id}-b`);
        await store.heartbeat(`${id}-a`);
        expect((await store.heartbeats()).get(`${id}-a`)).to.equal(2);
        await store.removeOwner(`${id}-a`);
        expect((await store.heartbeats()).get(`${id}-a`)).to.equal(undefined);
        expect((await store.heartbeats()).get(`${id}-b`)).to.equal(1);
      });

      it('stores commands until they are removed; of two with the same id the first stays in force', async () => {
        const action = { kind: 'submit', callId: 'c', result: { output: { 'a.b': [null, { $c: 1 }] } } } as const;
        expect(await store.addCommand({ id: `${id}:c`, executionId: id, action })).to.equal(true);
        expect(
          await store.addCommand({
            id: `${id}:c`,
            executionId: id,
            action: { kind: 'submit', callId: 'c', result: { error: 'too late' } },
          }),
        ).to.equal(false);
        expect(await store.addCommand({ id: `${id}:cancel`, executionId: id, action: { kind: 'cancel' } })).to.equal(
          true,
        );
        const mine = async () => (await store.commands(1_000)).filter(({ executionId }) => executionId === id);
        expect(await mine()).to.have.deep.members([
          { id: `${id}:c`, executionId: id, action },
          { id: `${id}:cancel`, executionId: id, action: { kind: 'cancel' } },
        ]);
        await store.removeCommand(`${id}:c`);
        expect((await mine()).map((command) => command.id)).to.deep.equal([`${id}:cancel`]);
      });
    }),
  );
}
