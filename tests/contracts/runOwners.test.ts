/**
 * Several processes on one store, simulated by several loops: which one owns a run, may write to it, and receives its
 * commands.
 */
import { expect } from 'chai';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { LeaseHeartbeat } from '../../imports/business/ai/application/services/runs/durable/LeaseHeartbeat';
import { RunRecovery } from '../../imports/business/ai/application/services/RunRecovery';
import { AgenticExecutionUseCase } from '../../imports/business/ai/application/usecases/AgenticExecutionUseCase';
import { RunLauncher } from '../../imports/business/ai/application/usecases/RunLauncher';
import {
  ConflictError,
  LLMInvalidRequestError,
  LLMServerError,
} from '../../imports/business/ai/domain/errors/LLMErrors';
import type { RunRecord } from '../../imports/business/ai/domain/types/RunRecords';
import type { RunStore } from '../../imports/business/ai/domain/interfaces/RunStore';
import type { LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { DocumentRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { MemoryRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { MeteorDatabase } from '../../imports/database/meteor/MeteorDatabase';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { resetMeteor } from '../stubs/server/registry';
import { deferred } from '../support/deferred';
import { failure } from '../support/failure';
import { recordEvents } from '../support/recordEvents';
import { RecordingLogger } from '../support/RecordingLogger';
import { answer, calling } from '../../imports/testing/responses';
import { ScriptedProvider, untilAborted } from '../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../imports/testing/ScriptedProvider';
import { METEOR_PACKAGES } from '../meteor/meteorPackages';
import { until } from '../support/until';
import { inFlowingTime } from '../support/VirtualTime';

const TIMES = { lease: 60, heartbeat: 5 };

describe(
  'runs on a store that several processes share',
  inFlowingTime((time) => {
    let store: RunStore;

    beforeEach(async () => {
      resetMeteor();
      const documents = new DocumentRunStore(new MeteorDatabase(METEOR_PACKAGES));
      await documents.ensureIndexes();
      store = documents;
    });
    after(() => resetMeteor());

    function owner(
      script: readonly ScriptedStep[],
      tools = new ToolRegistry(),
      own: RunStore = store,
      leaseTimes = TIMES,
    ) {
      const provider = new ScriptedProvider(script);
      const logger = new RecordingLogger();
      const loop = new AgenticLoop({ provider, toolExecutor: tools, runStore: own, leaseTimes, logger });
      return { provider, loop, logger, record: recordEvents(loop) };
    }
    const external = (): ToolRegistry =>
      new ToolRegistry()
        .register({ name: 'webhook', kind: 'external' })
        .register({ name: 'pay', needsApproval: true, execute: () => 'paid' });

    it('an owner that lost its run writes nothing, emits nothing, starts no tool, and still settles as the run does elsewhere', async () => {
      const reply = deferred<LLMResponse>();
      const effects: string[] = [];
      const tools = (name: string): ToolRegistry =>
        new ToolRegistry().register({ name: 'note', execute: () => effects.push(name) });
      const old = owner([() => reply.promise], tools('old'));
      const first = old.loop.execute('ann', { model: 'm', input: 'go', tools: ['note'], executionId: 'r' });
      await old.record.seen('iteration:start');
      await new Promise((resolve) => setImmediate(resolve));
      const next = owner([calling({ name: 'note' }), answer('new')], tools('new'));
      expect((await next.loop.resume('r')).response.output_text).to.equal('new');
      const emitted = old.record.events.length;
      // The old owner resumes: its model responds with a tool call.
      reply.resolve(calling({ name: 'note' }));
      expect((await first).response.output_text).to.equal('new');
      expect(effects).to.deep.equal(['new']);
      // The response is emitted before it is recorded; nothing that follows is.
      expect(
        old.record.lines
          .slice(emitted)
          .filter((line) => !['llm:response', 'tool:pending note', 'tool:executing note'].includes(line)),
      ).to.deep.equal([]);
      expect(old.loop.local.has('r')).to.equal(false);
      expect((await store.load('r'))?.run).to.include({
        state: 'completed',
        owner: next.loop.claims.ownerId,
        fence: 2,
      });
    });

    it('an owner that was suspended detects the loss with its next heartbeat, and aborts its model call', async () => {
      const old = owner([untilAborted]);
      const first = old.loop.execute('ann', { model: 'm', input: 'go', executionId: 'r' });
      await old.record.seen('iteration:start');
      await new Promise((resolve) => setImmediate(resolve));
      const next = owner([answer('new')]);
      const second = next.loop.resume('r');
      await next.record.seen('run:started');
      time.suspend(TIMES.lease + 10);
      expect((await first).response.output_text).to.equal('new');
      expect((await second).response.output_text).to.equal('new');
      expect(old.provider.calls[0]?.options.signal?.aborted).to.equal(true);
      expect(old.record.lines).to.deep.equal(['run:started', 'iteration:start']);
    });

    it('an owner that was suspended does not trust its leases before it has checked them', async () => {
      const checks: boolean[] = [];
      const sure = deferred();
      const owned = new LeaseHeartbeat(
        store,
        {
          size: 1,
          apply: () => undefined,
          heartbeat: () => (owned.isLeaseCurrent() ? sure.resolve() : undefined),
          checkLeases: () => Promise.resolve(void checks.push(owned.isLeaseCurrent())),
        },
        TIMES,
        new RecordingLogger(),
      );
      await owned.start();
      expect(owned.isLeaseCurrent()).to.equal(true);
      time.suspend(TIMES.lease + 10);
      expect(owned.isLeaseCurrent()).to.equal(false);
      await sure.promise;
      await owned.release();
      // Another delay, as on a busy machine, demands as many checks again.
      expect(checks).to.have.length.of.at.least(3).and.not.include(true);
    });

    it('an owner keeps sending heartbeats while a command waits for a slow store', async () => {
      const written = deferred();
      const beats = deferred();
      let isSlow = false;
      let heartbeats = 0;
      const slow = new Proxy(store, {
        get(target, name, receiver) {
          const value: unknown = Reflect.get(target, name, receiver);
          if (typeof value !== 'function') return value;
          return async (...args: readonly unknown[]): Promise<unknown> => {
            if (isSlow && name === 'saveRun') await written.promise;
            if (isSlow && name === 'heartbeat' && (heartbeats += 1) === 4) beats.resolve();
            return (value as (...all: readonly unknown[]) => unknown).apply(target, [...args]);
          };
        },
      });
      const { loop, record } = owner([calling({ name: 'webhook', call_id: 'w' }), answer('done')], external(), slow, {
        lease: 10_000,
        heartbeat: 5,
      });
      const run = loop.execute('ann', { model: 'm', input: 'go', tools: ['webhook'], executionId: 'r' });
      await record.seen('tool:executing');
      for (;;) if ((await store.load('r'))?.calls[0]?.state === 'executing') break;
      isSlow = true;
      await store.addCommand({
        id: 'of a wait that is over',
        executionId: 'r',
        action: { kind: 'approve', callId: 'w' },
      });
      await loop.submitToolResult('r', 'w', { output: 'hooked' });
      await beats.promise;
      written.resolve();
      expect((await run).response.output_text).to.equal('done');
      while ((await store.commands(10)).length > 0) await new Promise((resolve) => setImmediate(resolve));
      await loop.close();
    });

    it('commands reach a run from any process: approval, rejection, results and cancellation, each once', async () => {
      const here = owner(
        [
          calling({ name: 'pay', call_id: 'a' }, { name: 'pay', call_id: 'b' }, { name: 'webhook', call_id: 'w' }),
          untilAborted,
        ],
        external(),
      );
      const there = owner([], external());
      const run = failure(
        here.loop.execute('ann', { model: 'm', input: 'go', tools: ['pay', 'webhook'], executionId: 'r' }),
      );
      const asked = await here.record.seen('tool:approval_required', ({ callId }) => callId === 'b');
      await here.record.seen('tool:executing', ({ callId }) => callId === 'w');
      await here.loop.approve('r', 'nothing').catch(() => undefined);
      for (;;) {
        const states = (await store.load('r'))?.calls.map(({ state }) => state) ?? [];
        if (states.join() === 'awaiting_approval,awaiting_approval,executing') break;
      }
      expect(await failure(there.loop.approve('r', 'a', 'another hash'))).to.be.instanceOf(ConflictError);
      // The owner applies it with its next heartbeat, whenever that is.
      const approved = ['awaiting_approval', 'executing', 'completed'];
      expect(await there.loop.approve('r', 'a', asked.argumentsHash)).to.be.oneOf(approved);
      expect(await there.loop.approve('r', 'a')).to.be.oneOf(approved);
      expect(await failure(there.loop.reject('r', 'a'))).to.be.instanceOf(LLMInvalidRequestError);
      await there.loop.reject('r', 'b', 'too much');
      expect(await there.loop.submitToolResult('r', 'w', { output: 'hooked' })).to.equal('accepted');
      expect(await there.loop.submitToolResult('r', 'w', { output: 'again' })).to.equal('already-settled');
      await here.record.seen('iteration:start', ({ iteration }) => iteration === 2);
      expect(await there.loop.submitToolResult('r', 'w', { output: 'again' })).to.equal('already-settled');
      expect(await there.loop.approve('r', 'a')).to.equal('completed');
      expect(await there.loop.reject('r', 'b')).to.equal('failed');
      expect(await failure(there.loop.approve('r', 'b'))).to.be.instanceOf(LLMInvalidRequestError);
      expect(await failure(here.loop.approve('r', 'w'))).to.be.instanceOf(LLMInvalidRequestError);
      const { calls } = (await store.load('r'))!;
      expect(
        calls.map((call) => [call.state, 'result' in call ? call.result : 'error' in call ? call.error.message : '']),
      ).to.deep.equal([
        ['completed', 'paid'],
        ['failed', 'The call was not approved: too much'],
        ['completed', 'hooked'],
      ]);
      expect(await there.loop.cancel('r')).to.equal('running');
      expect(await run).to.have.property('code', 'aborted');
      expect(await there.loop.cancel('r')).to.equal('cancelled');
      expect(await failure(there.loop.cancel('unknown'))).to.be.instanceOf(LLMInvalidRequestError);
    });

    it('an accepted command survives an owner that died before applying it', async () => {
      const old = owner([calling({ name: 'pay', call_id: 'a' })], external());
      void old.loop
        .execute('ann', { model: 'm', input: 'go', tools: ['pay'], executionId: 'r' })
        .catch(() => undefined);
      await old.record.seen('tool:approval_required');
      for (;;) if ((await store.load('r'))?.calls[0]?.state === 'awaiting_approval') break;
      await old.loop.close();
      const there = owner([], external());
      await there.loop.approve('r', 'a');
      const next = owner([answer('done')], external());
      expect((await next.loop.resume('r')).response.output_text).to.equal('done');
      expect(next.record.lines.filter((line) => line.startsWith('tool:'))).to.deep.equal([
        'tool:executing pay',
        'tool:completed pay',
      ]);
    });

    it('a run that was about to end when its owner died ends with the same error', async () => {
      const ending = deferred();
      const dying = new Proxy(store, {
        get(target, name, receiver) {
          const value: unknown = Reflect.get(target, name, receiver);
          if (typeof value !== 'function') return value;
          // The process dies just before the run's last write.
          return (...args: readonly unknown[]): unknown => {
            if (name !== 'saveRun' || (args[1] as { endedAt?: number }).endedAt === undefined)
              return (value as (...all: readonly unknown[]) => unknown).apply(target, [...args]);
            ending.resolve();
            return new Promise(() => undefined);
          };
        },
      });
      const old = owner([calling({ name: 'webhook', call_id: 'w' })], external(), dying);
      void old.loop
        .execute('ann', { model: 'm', input: 'go', tools: ['webhook'], executionId: 'r' })
        .catch(() => undefined);
      await old.record.seen('tool:executing');
      await old.loop.cancel('r');
      await ending.promise;
      expect((await store.load('r'))?.calls[0]?.state).to.equal('cancelled');
      const next = owner([], external());
      expect(await failure(next.loop.resume('r'))).to.include({ code: 'aborted', message: 'The run was cancelled.' });
      expect(next.record.lines).to.deep.equal(['run:started', 'run:cancelled']);
      expect((await store.load('r'))?.run).to.deep.include({
        state: 'cancelled',
        error: { code: 'aborted', message: 'The run was cancelled.', retryable: false },
      });
    });

    it('an accepted result survives a process that died before recording its effect', async () => {
      let isDead = false;
      const dying = new Proxy(store, {
        get(target, name, receiver) {
          const value: unknown = Reflect.get(target, name, receiver);
          if (typeof value !== 'function') return value;
          // The process dies at the first write after the command.
          return (...args: readonly unknown[]): unknown => {
            if (isDead && (name === 'saveCalls' || name === 'saveRun')) return new Promise(() => undefined);
            return (value as (...all: readonly unknown[]) => unknown).apply(target, [...args]);
          };
        },
      });
      const old = owner([calling({ name: 'webhook', call_id: 'w' })], external(), dying);
      void old.loop
        .execute('ann', { model: 'm', input: 'go', tools: ['webhook'], executionId: 'r' })
        .catch(() => undefined);
      await old.record.seen('tool:executing');
      for (;;) if ((await store.load('r'))?.calls[0]?.state === 'executing') break;
      isDead = true;
      expect(await old.loop.submitToolResult('r', 'w', { output: 'hooked' })).to.equal('accepted');
      const next = owner([answer('done')], external());
      const { toolCalls } = await next.loop.resume('r');
      expect(toolCalls[0]).to.include({ state: 'completed', result: 'hooked' });
      void old.loop.cancel('r');
    });

    describe('RunRecovery', () => {
      it('takes over the runs of an owner that left at once, and of one without heartbeats after a lease', async () => {
        const left = owner([untilAborted]);
        void left.loop.execute('ann', { model: 'm', input: 'go', executionId: 'left' }).catch(() => undefined);
        await left.record.seen('iteration:start');
        await left.loop.close();
        await store.create(
          { ...(await store.load('left'))!.run, executionId: 'silent', requestId: 'silent' },
          'running',
          'other',
        );
        await store.heartbeat('other');
        const alive = owner([untilAborted], new ToolRegistry(), store, { lease: 200, heartbeat: 5 });
        void alive.loop.execute('ann', { model: 'm', input: 'go', executionId: 'alive' }).catch(() => undefined);
        await alive.record.seen('iteration:start');
        await store.create(
          { ...(await store.load('left'))!.run, executionId: 'queued', requestId: 'queued' },
          'queued',
          '',
        );

        const next = owner([answer('left'), answer('silent')]);
        const recovery = new RunRecovery({
          loop: next.loop,
          store,
          lease: 200,
          scanIntervalMs: 5,
          logger: next.logger,
        });
        await recovery.start();
        expect((await next.record.seen('run:completed')).executionId).to.equal('left');
        expect(
          (await next.record.seen('run:completed', ({ executionId }) => executionId === 'silent')).executionId,
        ).to.equal('silent');
        expect(await recovery.scan()).to.equal(0);
        recovery.stop();
        expect(alive.loop.local.has('alive')).to.equal(true);
        expect((await store.load('alive'))?.run).to.include({ owner: alive.loop.claims.ownerId, fence: 1 });
        expect((await store.load('queued'))?.run).to.include({ state: 'queued', owner: '' });
        expect(next.logger.errors).to.deep.equal([]);
        await alive.loop.close();
      });

      it('takes over the runs of an owner that leaves between two scans, without waiting for the next', async () => {
        const leaving = owner([untilAborted]);
        void leaving.loop.execute('ann', { model: 'm', input: 'go', executionId: 'left' }).catch(() => undefined);
        await leaving.record.seen('iteration:start');
        const next = owner([answer('done')]);
        const { loop, logger } = next;
        const times = { lease: 600_000, scanIntervalMs: 600_000, watchIntervalMs: 5 };
        const recovery = new RunRecovery({ loop, store, logger, ...times });
        await recovery.start();
        await leaving.loop.close();
        expect((await next.record.seen('run:completed')).executionId).to.equal('left');
        recovery.stop();
      });

      it('takes over the runs of an owner that leaves during a scan, without waiting for the next', async () => {
        const leaving = owner([untilAborted]);
        void leaving.loop.execute('ann', { model: 'm', input: 'go', executionId: 'left' }).catch(() => undefined);
        await leaving.record.seen('iteration:start');
        const next = owner([answer('done')]);
        let onRead = (): Promise<void> => Promise.resolve();
        const watched: RunStore = Object.create(store, {
          leased: {
            value: async (...args: Parameters<RunStore['leased']>) => {
              const leased = await store.leased(...args);
              await onRead();
              return leased;
            },
          },
        }) as RunStore;
        const recovery = new RunRecovery({ loop: next.loop, store: watched, lease: 600_000, logger: next.logger });
        expect(await recovery.scan()).to.equal(0);
        // It was alive when the runs were read, and has gone when the heartbeats are.
        onRead = () => leaving.loop.close();
        await recovery.scan();
        expect((await next.record.seen('run:completed')).executionId).to.equal('left');
      });

      for (const [what, method, execute] of [
        [
          'starts',
          'create',
          ({ loop }: ReturnType<typeof owner>, executionId: string) =>
            loop.start('ann', { model: 'm', input: 'go', executionId }),
        ],
        [
          'takes from the queue',
          'claim',
          async ({ loop }: ReturnType<typeof owner>, executionId: string, run: RunRecord) => {
            await store.create({ ...run, executionId, requestId: executionId }, 'queued', '');
            return loop.claims.startQueued(executionId);
          },
        ],
      ] as const)
        it(`leaves a run alone that this process just ${what}, however close the scan is`, async () => {
          const reply = deferred<LLMResponse>();
          const { done } = await owner([() => reply.promise]).loop.start('ann', {
            model: 'm',
            input: 'go',
            executionId: 'old',
          });
          const { run } = (await store.load('old'))!;
          reply.resolve(answer('old'));
          await done;
          for (let steps = 0; steps < 12; steps += 1) {
            const executionId = `near-${steps}`;
            const [isOwned, owned, isRead, read] = [1, 2, 3, 4].map(() => deferred<undefined>());
            const claim = store[method].bind(store) as (...values: unknown[]) => Promise<unknown>;
            const own = Object.assign(Object.create(store) as RunStore, {
              [method]: async (...values: unknown[]) => {
                const lease = await claim(...values);
                isOwned!.resolve(undefined);
                return owned!.promise.then(() => lease);
              },
              heartbeats: async () => {
                const heartbeats = await store.heartbeats();
                isRead!.resolve(undefined);
                return read!.promise.then(() => heartbeats);
              },
            });
            const process = owner([answer('done'), answer('twice')], new ToolRegistry(), own);
            const started = execute(process, executionId, run);
            await isOwned!.promise;
            const { loop, logger } = process;
            const scan = new RunRecovery({ loop, store: own, lease: 10_000, logger }).scan();
            await isRead!.promise;
            owned!.resolve(undefined);
            for (let step = 0; step < steps; step += 1) await Promise.resolve();
            read!.resolve(undefined);
            expect(await scan, `after ${steps} steps`).to.equal(0);
            expect((await (await started)!.done).response.output_text).to.equal('done');
            expect(process.provider.calls).to.have.length(1);
          }
        });

      it('leaves a run alone that another process claimed since the scan', async () => {
        const left = owner([untilAborted]);
        void left.loop.execute('ann', { model: 'm', input: 'go', executionId: 'r' }).catch(() => undefined);
        await left.record.seen('iteration:start');
        await left.loop.close();
        const seen = await store.leased(10);
        const reply = deferred<LLMResponse>();
        const first = owner([() => reply.promise], new ToolRegistry(), store, { lease: 10_000, heartbeat: 5 });
        const done = first.loop.claims.recover(seen[0]!);
        await first.record.seen('iteration:start');

        const second = owner([answer('twice')]);
        const late = Object.assign(Object.create(store) as RunStore, {
          leased: async () => seen,
          heartbeats: async () => new Map<string, number>(),
        });
        expect(
          await new RunRecovery({ loop: second.loop, store: late, lease: TIMES.lease, logger: second.logger }).scan(),
        ).to.equal(1);
        expect(await second.loop.claims.recover(seen[0]!)).to.equal(undefined);
        reply.resolve(answer('once'));
        expect((await done)?.response.output_text).to.equal('once');
        expect((await store.load('r'))?.run).to.include({
          state: 'completed',
          owner: first.loop.claims.ownerId,
          fence: 2,
        });
        expect(second.record.lines).to.deep.equal([]);
        expect(second.logger.errors).to.deep.equal([]);
      });

      it('recovers the runs that this process gave up when the store could not be written to', async () => {
        let isDown = false;
        const failing = new Proxy(store, {
          get(target, name, receiver) {
            const value: unknown = Reflect.get(target, name, receiver);
            if (typeof value !== 'function') return value;
            return (...args: readonly unknown[]): unknown =>
              isDown
                ? Promise.reject(new Error('the store is down'))
                : (value as (...all: readonly unknown[]) => unknown).apply(target, [...args]);
          },
        });
        const asked = deferred();
        const reply = deferred<LLMResponse>();
        const noted: string[] = [];
        const tools = new ToolRegistry().register({ name: 'note', execute: () => noted.push('x') });
        const { loop, logger, record } = owner(
          [
            () => {
              asked.resolve();
              return reply.promise;
            },
            calling({ name: 'note' }),
            answer('done'),
          ],
          tools,
          failing,
        );
        const run = loop
          .execute('ann', { model: 'm', input: 'go', tools: ['note'], executionId: 'r' })
          .catch((error: unknown) => error);
        await asked.promise;
        isDown = true;
        reply.resolve(calling({ name: 'note' }));
        await until(() => !loop.local.has('r'));
        expect(noted).to.deep.equal([]);
        isDown = false;
        const recovery = new RunRecovery({ loop, store, lease: TIMES.lease, scanIntervalMs: 5, logger });
        await recovery.start();
        await record.seen('run:completed');
        recovery.stop();
        expect(noted).to.deep.equal(['x']);
        expect((await store.load('r'))?.run.state).to.equal('completed');
        await run;
      });
    });

    it('writes are retried while the store fails temporarily', async () => {
      let failures = 0;
      const failing = new Proxy(store, {
        get(target, name, receiver) {
          const value: unknown = Reflect.get(target, name, receiver);
          if (typeof value !== 'function') return value;
          let calls = 0;
          return (...args: readonly unknown[]): unknown => {
            calls += 1;
            if ((name === 'saveRun' || name === 'saveCalls') && calls % 2 === 1) {
              failures += 1;
              return Promise.reject(new Error('for a moment'));
            }
            return (value as (...all: readonly unknown[]) => unknown).apply(target, [...args]);
          };
        },
      });
      // One function per method, each of which counts its own calls.
      const methods = new Map<string | symbol, unknown>();
      const steady = new Proxy(failing, {
        get(target, name, receiver) {
          if (!methods.has(name)) methods.set(name, Reflect.get(target, name, receiver));
          return methods.get(name);
        },
      });
      const tools = new ToolRegistry().register({ name: 'note', execute: () => 'noted' });
      const { loop } = owner([calling({ name: 'note' }), answer('done')], tools, steady);
      expect(
        (await loop.execute('ann', { model: 'm', input: 'go', tools: ['note'], executionId: 'r' })).response
          .output_text,
      ).to.equal('done');
      expect(failures).to.be.at.least(3);
      expect((await store.load('r'))?.run.state).to.equal('completed');
    });

    it('a call under review that a person rejects fails, and the model learns that its effect is unknown', async () => {
      const old = owner(
        [calling({ name: 'mail', call_id: 'a' })],
        new ToolRegistry().register({ name: 'mail', execute: () => new Promise(() => undefined) }),
      );
      void old.loop
        .execute('ann', { model: 'm', input: 'go', tools: ['mail'], executionId: 'r' })
        .catch(() => undefined);
      await old.record.seen('tool:executing');
      for (;;) if ((await store.load('r'))?.calls[0]?.state === 'executing') break;
      await old.loop.close();
      const next = owner([answer('I see')], new ToolRegistry().register({ name: 'mail', execute: () => 'sent' }));
      const run = next.loop.resume('r');
      await next.record.seen('tool:needs_review');
      await next.loop.reject('r', 'a', 'the customer has it');
      const { toolCalls } = await run;
      expect(toolCalls[0]).to.deep.include({
        state: 'failed',
        error: {
          failure: 'rejected',
          message: 'It is not known whether the tool took effect, and it was not run again: the customer has it',
        },
      });
    });

    it('an approval starts a call once: repeated when the call is under review, it runs nothing again', async () => {
      const payments: string[] = [];
      const hasPaid = (times: number): boolean => payments.length === times;
      const bank = (isDown: () => boolean) =>
        new ToolRegistry().register({
          name: 'pay',
          needsApproval: true,
          execute: (_args, { idempotencyKey }) => {
            payments.push(idempotencyKey);
            return isDown() ? new Promise(() => undefined) : 'paid';
          },
        });
      const hanging = bank(() => true);
      const first = owner([calling({ name: 'pay', call_id: 'a' })], hanging);
      void first.loop
        .execute('ann', { model: 'm', input: 'go', tools: ['pay'], executionId: 'r' })
        .catch(() => undefined);
      const { argumentsHash } = await first.record.seen('tool:approval_required');
      await first.loop.approve('r', 'a', argumentsHash);
      for (;;) if ((await store.load('r'))?.calls[0]?.state === 'executing' && hasPaid(1)) break;
      await first.loop.close();

      const second = owner([], hanging);
      void second.loop.resume('r').catch(() => undefined);
      const { startTime } = await second.record.seen('tool:needs_review');
      const elsewhere = owner([]);
      for (const { loop } of [second, elsewhere]) {
        for (;;) if ((await store.load('r'))?.calls[0]?.state === 'needs_review') break;
        expect(await loop.approve('r', 'a', argumentsHash)).to.equal('needs_review');
        expect(await loop.approve('r', 'a')).to.equal('needs_review');
      }
      expect(payments).to.have.length(1);
      expect(await second.loop.rerun('r', 'a', startTime)).to.equal('executing');
      for (;;) if ((await store.load('r'))?.calls[0]?.state === 'executing' && hasPaid(2)) break;
      await second.loop.close();

      const third = owner(
        [answer('done')],
        bank(() => false),
      );
      const run = third.loop.resume('r');
      const again = await third.record.seen('tool:needs_review');
      expect(again.startTime).to.be.greaterThan(startTime);
      expect(await third.loop.rerun('r', 'a', startTime), 'the review of an earlier attempt').to.equal('needs_review');
      expect(payments).to.have.length(2);
      await third.loop.rerun('r', 'a', again.startTime);
      expect((await run).toolCalls[0]).to.include({ state: 'completed', result: 'paid' });
      expect(payments).to.have.length(3);
    });

    it('a call that nobody had to approve runs again for one approval of its review', async () => {
      let sent = 0;
      const tools = new ToolRegistry().register({
        name: 'mail',
        execute: () => ((sent += 1), sent === 1 ? new Promise(() => undefined) : 'sent'),
      });
      const old = owner([calling({ name: 'mail', call_id: 'a' })], tools);
      void old.loop
        .execute('ann', { model: 'm', input: 'go', tools: ['mail'], executionId: 'r' })
        .catch(() => undefined);
      await old.record.seen('tool:executing');
      for (;;) if ((await store.load('r'))?.calls[0]?.state === 'executing' && sent === 1) break;
      await old.loop.close();
      const next = owner([answer('done')], tools);
      const run = next.loop.resume('r');
      const { startTime } = await next.record.seen('tool:needs_review');
      expect(await failure(next.loop.rerun('r', 'a', startTime - 1))).to.be.instanceOf(ConflictError);
      expect(sent).to.equal(1);
      // No earlier approval could be repeated by it. The tool may end before its start has been stored, or after.
      expect(await next.loop.approve('r', 'a')).to.be.oneOf(['executing', 'completed']);
      await run;
      expect(sent).to.equal(2);
    });

    describe('a request id', () => {
      const ask = { requestId: 'req', providerId: 'scripted', input: 'go', tools: [] };
      const useCase = (script: readonly ScriptedStep[]) => {
        const { loop, provider } = owner(script);
        const launcher = new RunLauncher({
          loop,
          runs: store,
          providers: { has: () => true },
          access: { decide: () => Promise.resolve({ allowed: true }) },
        });
        return { provider, agentic: new AgenticExecutionUseCase(launcher, provider), loop };
      };

      it('stands for one run in all processes, during and after it; with other arguments it is a conflict', async () => {
        const reply = deferred<LLMResponse>();
        const a = useCase([() => reply.promise]);
        const b = useCase([]);
        const ann = { userId: 'ann', source: 'method' } as const;
        const { executionId } = await a.agentic.start(ann, ask);
        expect(await b.agentic.start(ann, ask)).to.deep.equal({ executionId });
        const both = Promise.all([a.agentic.execute(ann, ask), b.agentic.execute(ann, ask)]);
        reply.resolve(answer('once'));
        expect((await both).map(({ output_text }) => output_text)).to.deep.equal(['once', 'once']);
        const later = useCase([]);
        expect((await later.agentic.execute(ann, ask)).output_text).to.equal('once');
        expect(await failure(later.agentic.execute(ann, { ...ask, input: 'other' }))).to.be.instanceOf(ConflictError);
        later.provider.assertPlayedOut();
        b.provider.assertPlayedOut();
      });

      it('is accepted once when all processes receive it at the same time', async () => {
        const all = [useCase([answer('a')]), useCase([answer('b')]), useCase([answer('c')])];
        const results = await Promise.all(
          all.map(({ agentic }) => agentic.execute({ userId: 'ann', source: 'method' }, ask)),
        );
        expect(new Set(results.map(({ output_text }) => output_text)).size).to.equal(1);
        expect(all.reduce((sum, { provider }) => sum + provider.calls.length, 0)).to.equal(1);
      });

      it('reports the run’s failure in every process', async () => {
        const a = useCase([new LLMServerError('down', { retryable: false })]);
        const ann = { userId: 'ann', source: 'method' } as const;
        expect(await failure(a.agentic.execute(ann, ask))).to.be.instanceOf(LLMServerError);
        expect(await failure(useCase([]).agentic.execute(ann, ask)))
          .to.be.instanceOf(LLMServerError)
          .and.to.have.property('message', 'down');
      });
    });

    it('a loop without a store knows no runs of other processes, and writes nothing', async () => {
      const loop = new AgenticLoop({ provider: new ScriptedProvider([answer('x')]), toolExecutor: new ToolRegistry() });
      await loop.execute('ann', { model: 'm', input: 'go', executionId: 'r' });
      expect(await failure(loop.resume('other'))).to.be.instanceOf(LLMInvalidRequestError);
      expect(loop.claims.ownerId).to.equal(undefined);
      await loop.close();
      const store = new MemoryRunStore();
      expect(await store.leased(10)).to.deep.equal([]);
    });
  }),
);
