/** What people answer to the questions of a tool: each answer is about the question that it names. */
import { expect } from 'chai';
import { stub } from 'sinon';
import { NewEvents } from '../../imports/api/chat/NewEvents';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { ConflictError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { needsInput } from '../../imports/business/ai/domain/entities/Tool';
import type { ToolCallContext } from '../../imports/business/ai/domain/interfaces/IToolExecutor';
import type { AgentEvent, AgentEventOf } from '../../imports/business/ai/domain/types/AgentEvents';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { omitUndefined } from '../../imports/business/ai/domain/util/omitUndefined';
import type { RunStore } from '../../imports/business/ai/domain/interfaces/RunStore';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { MemoryRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling } from '../../imports/testing/responses';
import { ScriptedProvider } from '../../imports/testing/ScriptedProvider';
import { DATABASES } from '../support/documentDatabases';
import { failure } from '../support/failure';
import { intercepting } from '../support/intercepting';
import { recordEvents } from '../support/recordEvents';
import { until } from '../support/until';
import { inFlowingTime } from '../support/VirtualTime';

const isQuestion = (event: AgentEvent): event is AgentEventOf<'tool:input_required'> =>
  event.type === 'tool:input_required';

interface Asking {
  readonly needsApproval?: boolean;
  readonly schema?: JsonObject;
  readonly isStored?: boolean;
  readonly store?: RunStore;
}

/** Asks `questions` times whether to go on, and returns what was answered. */
async function start(
  questions: number,
  { needsApproval = false, schema, isStored = true, store = new MemoryRunStore() }: Asking = {},
) {
  const tools = new ToolRegistry().register({
    name: 'work',
    needsApproval,
    async execute(_args: unknown, { requestInput }: ToolCallContext) {
      const answers: (string | undefined)[] = [];
      for (let count = 0; count < questions; count += 1)
        answers.push((await requestInput?.({ message: `Question ${count}?`, ...omitUndefined({ schema }) }))?.action);
      return answers;
    },
  });
  const provider = new ScriptedProvider([calling({ name: 'work', call_id: 'c' }), answer('Done.')]);
  let commands = 0;
  // A second answer arrives once nothing is left of the first but its effect.
  const runStore = intercepting(store, 'addCommand', async (call) => {
    commands += 1;
    if (commands === 2) await until(async () => (await store.commands(1)).length === 0);
    return call();
  });
  const loop = new AgenticLoop({ provider, toolExecutor: tools, ...(isStored ? { runStore } : {}) });
  const record = recordEvents(loop);
  const { done } = await loop.start('ann', { executionId: 'r', model: 'm', input: 'Go.', tools: ['work'] });
  done.catch(() => undefined);
  const ids = (): readonly string[] =>
    record.events.flatMap((event) => (event.type === 'tool:input_required' ? [event.input.id] : []));
  const asked = async (count: number): Promise<string> => {
    await until(() => ids().length === count);
    return ids()[count - 1] ?? '';
  };
  const result = async (): Promise<string> => (await record.seen('tool:completed')).result;
  const approve = (inputId?: string) => loop.approve('r', 'c', undefined, undefined, inputId);
  return { loop, record, asked, approve, result };
}

describe(
  'an answer to what a tool asks',
  inFlowingTime(() => {
    it('confirms no later question of the call', async () => {
      const { loop, asked, approve, result } = await start(2);
      const first = await asked(1);
      expect(await approve(first)).to.equal('executing');
      const second = await asked(2);
      // A repetition changes nothing.
      expect(await approve(first)).to.equal('executing');
      const refusals = [
        loop.reject('r', 'c', 'No.', undefined, undefined, first),
        approve(),
        loop.reject('r', 'c'),
        loop.submitToolResult('r', 'c', { output: {} }),
      ];
      for (const refused of refusals)
        expect(await failure(refused))
          .to.be.instanceOf(ConflictError)
          .with.property('path', 'inputId');
      expect(await loop.submitToolResult('r', 'c', { output: {} }, undefined, first)).to.equal('already-settled');
      await loop.reject('r', 'c', 'No.', undefined, undefined, second);
      expect(await result()).to.equal('["accept","decline"]');
      expect(await approve(first)).to.equal('completed');
      await loop.close();
    });

    it('is followed by the next question, also if the clock is behind by then', async () => {
      const { loop, record, asked, approve, result } = await start(2);
      const first = await asked(1);
      const earlier = Date.now() - 60_000;
      const clock = stub(Date, 'now').returns(earlier);
      try {
        await approve(first);
        const second = await asked(2);
        const fresh = new NewEvents();
        const questions = record.events.filter((event) => fresh.accepts(event)).filter(isQuestion);
        expect(questions.map(({ input }) => input.id)).to.deep.equal([first, second]);
        await approve(second);
        await result();
      } finally {
        clock.restore();
      }
      await loop.close();
    });

    it('need not name the only one that there has been', async () => {
      const { loop, asked, approve, result } = await start(1);
      await asked(1);
      await approve();
      expect(await result()).to.equal('["accept"]');
      await loop.close();
    });

    it('is not the approval of the call, which may be repeated', async () => {
      const { loop, asked, approve, result } = await start(1, { needsApproval: true });
      await until(() => loop.getExecutionContext('r')?.toolCalls.get('c')?.state === 'awaiting_approval');
      await approve();
      const question = await asked(1);
      expect(await failure(approve())).to.be.instanceOf(ConflictError);
      await approve(question);
      expect(await result()).to.equal('["accept"]');
      await loop.close();
    });

    it('has names that no database can store', async () => {
      const stored = await DATABASES['embedded (SQLite)']();
      let schema: JsonObject = { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object' };
      for (let level = 0; level < 28; level += 1) schema = { type: 'object', properties: { next: schema } };
      schema = { type: 'object', properties: { 'user.email': { type: 'string' }, city: schema }, $defs: {} };
      const { loop, asked, result } = await start(2, { schema, store: await openRunStore(stored.database) });
      for (const count of [1, 2]) {
        const output = { 'user.email': 'ann@example.org' };
        const inputId = await asked(count);
        expect(await loop.submitToolResult('r', 'c', { output }, undefined, inputId)).to.equal('accepted');
      }
      expect(await result()).to.equal('["accept","accept"]');
      await loop.close();
      await stored.close();
    });

    for (const isStored of [true, false])
      it(`that comes with another one answers one question (${isStored ? 'stored' : 'not stored'})`, async () => {
        const { loop, asked, result } = await start(2, { schema: { type: 'object' }, isStored });
        await asked(1);
        const submit = (guests: number) => loop.submitToolResult('r', 'c', { output: { guests } });
        expect(await Promise.all([submit(1), submit(2)])).to.deep.equal(['accepted', 'already-settled']);
        await loop.reject('r', 'c', 'No.', undefined, undefined, await asked(2));
        expect(await result()).to.equal('["accept","decline"]');
        await loop.close();
      });

    for (const { isIdempotent, outcome } of [
      { isIdempotent: true, outcome: 'accepted' },
      { isIdempotent: false, outcome: 'already-settled' },
    ] as const)
      it(`is ${outcome} if the owner dies with it and the tool ${isIdempotent ? 'asks again' : 'needs a review'}`, async () => {
        const store = new MemoryRunStore();
        const tools = new ToolRegistry().register({
          name: 'work',
          idempotent: isIdempotent,
          execute: async (_args: unknown, { requestInput }: ToolCallContext) =>
            (await requestInput?.({ message: 'Go on?', schema: { type: 'object' } }))?.action,
        });
        const owner = (runStore: RunStore) => {
          const provider = new ScriptedProvider([calling({ name: 'work', call_id: 'c' }), answer('Done.')]);
          const loop = new AgenticLoop({ provider, toolExecutor: tools, runStore });
          return { loop, record: recordEvents(loop) };
        };
        // A process that takes no commands any more.
        const dying = owner(intercepting(store, 'commands', () => Promise.resolve([])));
        const { done } = await dying.loop.start('ann', { executionId: 'r', model: 'm', input: 'Go.', tools: ['work'] });
        done.catch(() => undefined);
        const { input } = await dying.record.seen('tool:input_required');
        await until(async () => (await store.load('r'))?.calls.some(needsInput) === true);
        const next = owner(store);
        const other = new AgenticLoop({
          provider: new ScriptedProvider([]),
          toolExecutor: tools,
          runStore: intercepting(store, 'addCommand', async (call) => {
            const isAdded = await call();
            await dying.loop.close();
            next.loop.resume('r').catch(() => undefined);
            await until(async () => (await store.commands(1)).length === 0);
            return isAdded;
          }),
        });
        expect(await other.submitToolResult('r', 'c', { output: {} }, undefined, input.id)).to.equal(outcome);
        const [call] = (await store.load('r'))?.calls ?? [];
        expect(call).to.have.property('state', isIdempotent ? 'completed' : 'needs_review');
        await Promise.all([next.loop.close(), other.close()]);
      });

    it('is refused in a process that lost its run before the question was stored', async () => {
      const store = new MemoryRunStore();
      const owner = (whenBegun: () => Promise<void>) => {
        const tools = new ToolRegistry().register({
          name: 'work',
          idempotent: true,
          execute: async (_args: unknown, { requestInput }: ToolCallContext) => {
            await whenBegun();
            return (await requestInput?.({ message: 'Go on?' }))?.action;
          },
        });
        const provider = new ScriptedProvider([calling({ name: 'work', call_id: 'c' }), answer('Done.')]);
        const loop = new AgenticLoop({ provider, toolExecutor: tools, runStore: store });
        return { loop, record: recordEvents(loop) };
      };
      const next = owner(() => Promise.resolve());
      const old = owner(async () => {
        next.loop.resume('r').catch(() => undefined);
        await next.record.seen('tool:input_required');
      });
      const { done } = await old.loop.start('ann', { executionId: 'r', model: 'm', input: 'Go.', tools: ['work'] });
      done.catch(() => undefined);
      const { input } = await old.record.seen('tool:input_required');
      expect(await failure(old.loop.approve('r', 'c', undefined, undefined, input.id)))
        .to.be.instanceOf(ConflictError)
        .with.property('path', 'inputId');
      await Promise.all([old.loop.close(), next.loop.close()]);
    });
  }),
);
