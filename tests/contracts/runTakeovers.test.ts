/**
 * Runs that kill the processes that own them: how often they are taken over, and what happens to them and to other
 * runs.
 */
import { expect } from 'chai';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { RunRecovery } from '../../imports/business/ai/application/services/RunRecovery';
import type { RecoveringLoop } from '../../imports/business/ai/application/services/RunRecovery';
import { ALONE, MAX_LONE_DEATHS } from '../../imports/business/ai/application/services/runs/durable/recoveryLimit';
import type { RunRecoveryStep } from '../../imports/business/ai/application/services/runs/durable/recoveryPlan';
import { runOf } from '../../imports/business/ai/domain/entities/Run';
import { ConflictError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { RunStore } from '../../imports/business/ai/domain/interfaces/RunStore';
import type { LeasedRun } from '../../imports/business/ai/domain/types/RunRecords';
import { MemoryRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { deferred } from '../support/deferred';
import { failure } from '../support/failure';
import { recordEvents } from '../support/recordEvents';
import { RecordingLogger } from '../support/RecordingLogger';
import { answer, calling } from '../../imports/testing/responses';
import { runRequest } from '../support/runRequests';
import { QUICK_RUN_STORES } from '../support/runStores';
import type { TestRunStore } from '../support/runStores';
import { ScriptedProvider } from '../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../imports/testing/ScriptedProvider';
import { until } from '../support/until';
import { inFlowingTime } from '../support/VirtualTime';

const RUN = 'run';
/** How often a run is taken over without making progress before it is parked, if no other run is suspected. */
const MAX_TAKEOVERS = MAX_LONE_DEATHS + 1;

/** A process. Once it has died, its store never responds. */
class Life {
  readonly died = deferred();
  readonly loop: AgenticLoop;
  readonly record: ReturnType<typeof recordEvents>;
  readonly provider: ScriptedProvider;
  private isDead = false;

  constructor(store: RunStore, script: readonly ScriptedStep[], tools: (life: Life) => ToolRegistry) {
    this.provider = new ScriptedProvider(script);
    const runStore = new Proxy(store, {
      get: (target, name, receiver) => {
        const value: unknown = Reflect.get(target, name, receiver);
        if (typeof value !== 'function') return value;
        return (...args: readonly unknown[]): unknown =>
          this.isDead
            ? new Promise(() => undefined)
            : (value as (...all: readonly unknown[]) => unknown).apply(target, [...args]);
      },
    });
    this.loop = new AgenticLoop({
      provider: this.provider,
      toolExecutor: tools(this),
      runStore,
      logger: new RecordingLogger(),
    });
    this.record = recordEvents(this.loop);
  }

  die(): Promise<never> {
    this.isDead = true;
    // The dead process still holds timers.
    void this.loop.cancel(RUN);
    this.died.resolve();
    return new Promise(() => undefined);
  }
}

for (const [name, open] of Object.entries(QUICK_RUN_STORES)) {
  describe(
    `a run whose owners die (${name})`,
    inFlowingTime(() => {
      let opened: TestRunStore;
      let store: RunStore;
      beforeEach(async () => {
        opened = await open();
        store = opened.store;
      });
      afterEach(() => opened.close());

      const seen = async (): Promise<LeasedRun> => {
        const found = (await store.leased(10)).find(({ executionId }) => executionId === RUN);
        if (found === undefined) throw new Error('The run has no owner.');
        return found;
      };

      /** The run `RUN` after as many deaths as make it a culprit. */
      const killAll = async (tools: (life: Life) => ToolRegistry, script: readonly ScriptedStep[]): Promise<void> => {
        const first = new Life(store, script, tools);
        void first.loop
          .execute('ann', { model: 'm', input: 'go', tools: ['note', 'boom'], executionId: RUN })
          .catch(() => undefined);
        await first.died.promise;
        for (let takeover = 1; takeover <= MAX_TAKEOVERS; takeover += 1) {
          expect((await seen()).takeovers).to.equal(takeover > 2 ? ALONE + takeover - 2 : takeover - 1);
          const life = new Life(store, [], tools);
          void life.loop.claims.recover(await seen()).catch(() => undefined);
          await life.died.promise;
        }
      };
      let isMended = false;
      let booms = 0;
      let noted = deferred();
      beforeEach(() => {
        isMended = false;
        booms = 0;
        noted = deferred();
      });
      const explosive = (life: Life): ToolRegistry =>
        new ToolRegistry()
          .register({ name: 'note', execute: () => (noted.resolve(), new Promise(() => undefined)) })
          .register({
            name: 'boom',
            idempotent: true,
            execute: async () => {
              await noted.promise;
              booms += 1;
              return isMended ? 'quiet' : life.die();
            },
          });
      const script = [calling({ name: 'note', call_id: 'n' }, { name: 'boom', call_id: 'b' })];
      const parkIt = async (): Promise<Life> => {
        await killAll(explosive, script);
        const life = new Life(store, [answer('done')], explosive);
        expect(await life.loop.claims.recover(await seen())).to.equal(undefined);
        return life;
      };

      it('is parked after too many takeovers without progress, with a reason that lists its uncertain calls', async () => {
        await killAll(explosive, script);
        const before = (await store.load(RUN))!;
        const last = new Life(store, [], explosive);
        expect(await last.loop.claims.recover(await seen())).to.equal(undefined);
        expect(booms).to.equal(MAX_TAKEOVERS + 1);
        const { run, calls } = (await store.load(RUN))!;
        expect(run).to.deep.include({
          state: 'waiting',
          owner: '',
          transcript: before.run.transcript,
          input: before.run.input,
          response: before.run.response,
        });
        expect(run.parked?.reason).to.equal('max-takeovers');
        for (const part of ['6 processes in a row', 'note (n)', 'boom (b)'])
          expect(run.parked?.message).to.include(part);
        expect(calls).to.deep.equal(before.calls);
        expect(last.record.lines).to.deep.equal(['run:parked']);
        // Neither the next scans nor this process have anything to do with it.
        expect(await store.leased(10)).to.deep.equal([]);
        expect(last.loop.local.size).to.equal(0);
      });

      it('is tried again when a person resumes it, cleared of suspicion', async () => {
        await parkIt();
        isMended = true;
        const life = new Life(store, [answer('done')], explosive);
        expect(await life.loop.resumeParked(RUN)).to.equal('running');
        const claimed = (await store.load(RUN))!.run;
        expect(claimed).to.include({ takeovers: 0, owner: life.loop.claims.ownerId });
        expect(claimed).not.to.have.property('parked');
        // The first takeover asked for a review of the call.
        await life.loop.reject(RUN, 'n');
        expect((await life.loop.waitForResult(RUN)).response.output_text).to.equal('done');
        expect(booms).to.equal(MAX_TAKEOVERS + 2);
        const error = await failure(life.loop.resumeParked(RUN));
        expect(error).to.be.instanceOf(ConflictError);
      });

      it('is parked once more if it goes on to kill its processes', async () => {
        await parkIt();
        const life = new Life(store, [], explosive);
        await life.loop.resumeParked(RUN);
        await life.died.promise;
        for (let takeover = 1; takeover <= MAX_TAKEOVERS; takeover += 1) {
          const next = new Life(store, [], explosive);
          void next.loop.claims.recover(await seen()).catch(() => undefined);
          await next.died.promise;
        }
        await new Life(store, [], explosive).loop.claims.recover(await seen());
        expect((await store.load(RUN))!.run.parked?.reason).to.equal('max-takeovers');
        expect(booms).to.equal(2 * (MAX_TAKEOVERS + 1));
      });

      it('is ended by a person while it is parked, with its calls', async () => {
        const life = await parkIt();
        const waiting = new Life(store, [], explosive).loop.waitForResult(RUN);
        expect(await life.loop.cancel(RUN)).to.equal('cancelled');
        expect(life.record.lines).to.have.members([
          'run:parked',
          'run:started',
          'tool:cancelled note',
          'tool:cancelled boom',
          'run:cancelled',
        ]);
        const { run, calls } = (await store.load(RUN))!;
        expect(run).to.include({ state: 'cancelled' }).and.not.to.have.property('parked');
        for (const call of calls) expect('error' in call ? call.error.message : '').to.match(/is not known/);
        expect(runOf(await failure(waiting))?.transcript).to.deep.equal(run.transcript);
        expect(await life.loop.cancel(RUN)).to.equal('cancelled');
      });

      it('is ended by a cancellation that came before it was parked', async () => {
        await killAll(explosive, script);
        const life = new Life(store, [], explosive);
        expect(await life.loop.cancel(RUN)).to.equal('running');
        await life.loop.claims.recover(await seen());
        await new RunRecovery({ loop: life.loop, store, logger: new RecordingLogger() }).scan();
        expect((await store.load(RUN))!.run.state).to.equal('cancelled');
        expect(await store.commands(10)).to.deep.equal([]);
      });

      it('is taken over without limit while it makes progress each time', async () => {
        const steps = MAX_TAKEOVERS + 2;
        let calls = 0;
        const tools = (life: Life): ToolRegistry =>
          // Every second attempt kills its process.
          new ToolRegistry().register({
            name: 'step',
            idempotent: true,
            execute: () => ((calls += 1) % 2 === 1 ? life.die() : 'done'),
          });
        const script = (from: number): readonly ScriptedStep[] =>
          Array.from({ length: steps - from }, (_each, index) =>
            from + index + 1 === steps ? answer('all done') : calling({ name: 'step', call_id: `s${from + index}` }),
          );
        const first = new Life(store, script(0), tools);
        void first.loop
          .execute('ann', { model: 'm', input: 'go', tools: ['step'], executionId: RUN })
          .catch(() => undefined);
        await first.died.promise;
        for (let turn = 1; turn < steps; turn += 1) {
          const life = new Life(store, script(turn), tools);
          const done = life.loop.claims.recover(await seen());
          done.catch(() => undefined);
          const end = await Promise.race([life.died.promise, done]);
          if (turn + 1 === steps) expect(end?.response.output_text).to.equal('all done');
          // Before this process died, the call that had killed the last one settled, and the next model call returned.
          else expect((await seen()).takeovers).to.equal(0);
        }
      });

      it('runs a call again that changes nothing, and asks nobody', async () => {
        let calls = 0;
        const tools = (life: Life): ToolRegistry =>
          new ToolRegistry().register({
            name: 'look',
            readOnly: true,
            execute: () => ((calls += 1) === 1 ? life.die() : 'seen'),
          });
        const first = new Life(store, [calling({ name: 'look', call_id: 'l' })], tools);
        void first.loop
          .execute('ann', { model: 'm', input: 'go', tools: ['look'], executionId: RUN })
          .catch(() => undefined);
        await first.died.promise;
        const { calls: stored } = (await store.load(RUN))!;
        expect(stored.map(({ state }) => state)).to.deep.equal(['executing']);
        const life = new Life(store, [answer('done')], tools);
        const done = life.loop.claims.recover(await seen());
        const ended = await Promise.race([done, life.record.seen('tool:needs_review')]);
        expect(ended).to.nested.include({ 'response.output_text': 'done' });
        expect(calls).to.equal(2);
      });

      it('is a suspect of its process until the store knows of its progress', async () => {
        const tools = (): ToolRegistry => new ToolRegistry().register({ name: 'step', execute: () => 'done' });
        const first = new Life(store, [() => new Promise(() => undefined)], tools);
        void first.loop
          .execute('ann', { model: 'm', input: 'go', tools: ['step'], executionId: RUN })
          .catch(() => undefined);
        await first.record.seen('iteration:start');
        void first.die();
        const asked = deferred();
        const answers = [deferred(), deferred()] as const;
        const model: readonly ScriptedStep[] = [
          () => (asked.resolve(), answers[0].promise.then(() => calling({ name: 'step', call_id: 's' }))),
          () => answers[1].promise.then(() => answer('done')),
        ];
        const life = new Life(store, model, tools);
        const done = life.loop.claims.recover(await seen());
        await asked.promise;
        expect(life.loop.local.isSuspected(RUN)).to.equal(true);
        answers[0].resolve();
        await until(() => !life.loop.local.isSuspected(RUN));
        expect((await seen()).takeovers).to.equal(0);
        answers[1].resolve();
        await done;
      });

      it('does not count a takeover by the process that gave it up itself', async () => {
        let isReadable = true;
        const unreadable = new Proxy(store, {
          get: (target, property, receiver) => {
            const value: unknown = Reflect.get(target, property, receiver);
            if (typeof value !== 'function') return value;
            return async (...args: readonly unknown[]): Promise<unknown> => {
              const given: unknown = await (value as (...all: readonly unknown[]) => unknown).apply(target, [...args]);
              if (property === 'claim' && !isReadable) throw new Error('it was claimed, and then the store was gone');
              return given;
            };
          },
        });
        const first = new Life(store, [() => new Promise(() => undefined)], () => new ToolRegistry());
        void first.loop.execute('ann', { model: 'm', input: 'go', executionId: RUN }).catch(() => undefined);
        await first.record.seen('iteration:start');
        void first.die();
        const life = new Life(unreadable, [answer('done')], () => new ToolRegistry());
        isReadable = false;
        for (let attempt = 0; attempt < MAX_TAKEOVERS + 2; attempt += 1) {
          await failure(life.loop.claims.recover(await seen()));
          expect((await seen()).takeovers).to.equal(1);
        }
        isReadable = true;
        expect((await life.loop.claims.recover(await seen()))?.response.output_text).to.equal('done');
      });

      it('does not count takeovers while it only waits for others, nor after an orderly shutdown', async () => {
        const tools = (): ToolRegistry =>
          new ToolRegistry().register({ name: 'pay', needsApproval: true, execute: () => 'paid' });
        const first = new Life(store, [calling({ name: 'pay', call_id: 'p' })], tools);
        void first.loop
          .execute('ann', { model: 'm', input: 'go', tools: ['pay'], executionId: RUN })
          .catch(() => undefined);
        await first.record.seen('tool:approval_required');
        await until(async () => (await store.load(RUN))?.calls[0]?.state === 'awaiting_approval');
        void first.die();
        for (let takeover = 1; takeover <= MAX_TAKEOVERS + 2; takeover += 1) {
          const life = new Life(store, [], tools);
          void life.loop.claims.recover(await seen()).catch(() => undefined);
          await until(async () => (await seen()).owner === life.loop.claims.ownerId && (await seen()).takeovers === 0);
          void life.die();
        }
        for (let takeover = 1; takeover <= MAX_TAKEOVERS + 2; takeover += 1) {
          const asked = deferred();
          const life = new Life(store, [() => (asked.resolve(), new Promise(() => undefined))], tools);
          void life.loop.claims.recover(await seen()).catch(() => undefined);
          if (takeover === 1) {
            await until(async () => (await seen()).takeovers === 0);
            await life.loop.approve(RUN, 'p');
          }
          await asked.promise;
          await life.loop.close();
          expect((await seen()).takeovers).to.equal(0);
        }
        const last = new Life(store, [answer('paid it')], tools);
        expect((await last.loop.claims.recover(await seen()))?.response.output_text).to.equal('paid it');
      });
    }),
  );
}

describe(
  'RunRecovery with suspected runs',
  inFlowingTime((time) => {
    let store: MemoryRunStore;
    let here: Set<string>;
    let taken: string[];
    let steps: RunRecoveryStep[];
    let loop: RecoveringLoop;

    beforeEach(() => {
      store = new MemoryRunStore();
      here = new Set();
      taken = [];
      steps = [];
      loop = {
        leasedWork: { ownerId: 'other work' },
        local: {
          get size() {
            return here.size;
          },
          has: (executionId) => here.has(executionId),
          isWorking: () => false,
          isSuspected: () => false,
        },
        cancel: () => Promise.resolve(),
        claims: {
          ownerId: 'me',
          losses: 0,
          toolsLackedBy: () => [],
          toolWaits: undefined,
          leave: () => Promise.resolve(),
          recover: async (seen, step) => {
            if (step === undefined) throw new Error('The recovery states what is to be done.');
            steps.push(step);
            taken.push(seen.executionId);
            here.add(seen.executionId);
            await store.claim(seen, 'me', 'orphaned', { takeovers: step.takeovers });
            return undefined;
          },
          recoverAll: (all) => all.map((step) => loop.claims.recover(step.lease, step)),
        },
      };
    });

    const left = async (executionId: string, takeovers: number): Promise<void> => {
      const lease = await store.create(runRequest(executionId), 'running', 'gone');
      await store.saveRun(lease, { takeovers });
    };
    const getsOn = async (executionId: string): Promise<void> => {
      const { run } = (await store.load(executionId))!;
      await store.saveRun(run, { takeovers: 0 });
    };

    it('tries half of the suspects first and more next, while all other runs are recovered at once', async () => {
      for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await left(name, 1);
      await left('new', 0);
      const recovery = new RunRecovery({ loop, store, logger: new RecordingLogger() });
      expect(await recovery.scan()).to.equal(4);
      expect(taken.splice(0)).to.deep.equal(['new', 'a', 'b', 'c']);
      // They have made no progress yet.
      await getsOn('a');
      await getsOn('b');
      expect(await recovery.scan()).to.equal(0);
      // The trial of a run ends when the run ends or another process takes it over.
      here.delete('c');
      const { run } = (await store.load('c'))!;
      await store.saveRun(run, { state: 'completed' });
      expect(await recovery.scan()).to.equal(3);
      expect(taken).to.deep.equal(['d', 'e', 'f']);
    });

    it('tries what died alone only after it has lived without it, and parks what died alone too often', async () => {
      await left('alone', ALONE + 2);
      await left('culprit', ALONE + MAX_LONE_DEATHS);
      const recovery = new RunRecovery({ loop, store, scanIntervalMs: 5_000, logger: new RecordingLogger() });
      expect(await recovery.scan()).to.equal(1);
      expect(steps.map(({ kind, lease }) => [kind, lease.executionId])).to.deep.equal([['park', 'culprit']]);
      time.suspend(25_000);
      expect(await recovery.scan()).to.equal(0);
      time.suspend(5_000);
      expect(await recovery.scan()).to.equal(1);
      expect(steps.at(-1)).to.deep.include({ kind: 'try', takeovers: ALONE + 3 });
    });

    it('parks a suspect that it does not try yet if somebody cancels it', async () => {
      await left('alone', ALONE + 2);
      const recovery = new RunRecovery({ loop, store, logger: new RecordingLogger() });
      await recovery.scan();
      expect(steps).to.deep.equal([]);
      await store.addCommand({ id: 'cancel', executionId: 'alone', action: { kind: 'cancel' } });
      await recovery.scan();
      expect(steps.map(({ kind }) => kind)).to.deep.equal(['park']);
    });

    it('does not let a suspect that it tries alone die with the next one, although it is slow', async () => {
      await left('slow', 3);
      await left('culprit', 3);
      const recovery = new RunRecovery({ loop, store, logger: new RecordingLogger() });
      expect(await recovery.scan()).to.equal(1);
      time.suspend(300_000);
      expect(await recovery.scan()).to.equal(0);
      // It may hang for ever.
      time.suspend(300_000);
      expect(await recovery.scan()).to.equal(1);
      expect(taken).to.deep.equal(['slow', 'culprit']);
    });

    it('finds orphaned runs behind more local runs than one scan reads', async () => {
      for (let count = 0; count < 1_500; count += 1) {
        await store.create(runRequest(`mine-${count}`), 'running', 'me');
        here.add(`mine-${count}`);
      }
      await left('orphaned', 0);
      const recovery = new RunRecovery({ loop, store, logger: new RecordingLogger() });
      expect(await recovery.scan()).to.equal(1);
      expect(taken).to.deep.equal(['orphaned']);
    });

    it('finds orphaned runs behind the runs of live owners', async () => {
      const shared = new Proxy(store, {
        get: (target, name, receiver) =>
          name === 'isExclusive'
            ? false
            : ((value: unknown) => (typeof value === 'function' ? (value.bind(target) as unknown) : value))(
                Reflect.get(target, name, receiver),
              ),
      });
      for (let count = 0; count < 1_500; count += 1)
        await store.create(runRequest(`theirs-${count}`), 'running', 'other');
      await left('orphaned', 0);
      await store.heartbeat('other');
      const recovery = new RunRecovery({ loop, store: shared, logger: new RecordingLogger() });
      // From here on it knows that these owners are alive.
      await recovery.scan();
      expect(await recovery.scan()).to.equal(1);
      expect(taken).to.deep.equal(['orphaned']);
    });
  }),
);
