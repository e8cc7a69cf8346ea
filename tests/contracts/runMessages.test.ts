/** Messages to a run that is under way, in every store, whichever process receives them and whichever has the run. */
import { expect } from 'chai';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { normalizeInput } from '../../imports/business/ai/application/services/ContentNormalizer';
import { replayRun } from '../../imports/business/ai/application/services/replayRun';
import { textOfContent } from '../../imports/business/ai/domain/entities/Content';
import { ConflictError, LLMInvalidRequestError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { RunStore } from '../../imports/business/ai/domain/interfaces/RunStore';
import type { AgentEvent } from '../../imports/business/ai/domain/types/AgentEvents';
import type { GenerateOptions } from '../../imports/business/ai/domain/types/LLMTypes';
import type { Item, MessageItem } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling, eventsOf } from '../../imports/testing/responses';
import { ScriptedProvider, untilAborted } from '../../imports/testing/ScriptedProvider';
import type { ScriptedOutcome, ScriptedStep } from '../../imports/testing/ScriptedProvider';
import { deferred } from '../support/deferred';
import { failure } from '../support/failure';
import { QUICK_RUN_STORES, RUN_STORES } from '../support/runStores';
import type { TestRunStore } from '../support/runStores';
import { until } from '../support/until';
import { inFlowingTime } from '../support/VirtualTime';

const OPTIONS = { executionId: 'r', model: 'm', input: 'Begin.', tools: ['note', 'pay', 'job'] };
const { memory } = RUN_STORES;
const STORES: Readonly<Record<string, () => Promise<TestRunStore | undefined>>> = {
  ...QUICK_RUN_STORES,
  memory: memory!,
  none: () => Promise.resolve(undefined),
};

/** What each item says, by whom, in a line. */
function lines(items: readonly Item[]): readonly string[] {
  return items.map((item) => {
    if (item.type === 'message')
      return `${item.role}${item.status === 'incomplete' ? ' (interrupted)' : ''}: ${textOfContent(item.content)}`;
    if (item.type === 'function_call') return `calls ${item.name}`;
    if (item.type !== 'function_call_output') return item.type;
    return item.status === 'in_progress' ? 'accepted' : `${item.deferred === true ? 'late ' : ''}result`;
  });
}

/** What a reader learns of messages from an event. */
function essence(event: AgentEvent): readonly unknown[] {
  if (event.type === 'llm:interrupted') return [event.type, event.iteration, event.item];
  if (event.type === 'message:delivered') return [event.type, event.messageId, event.item];
  return event.type === 'llm:response' ? [event.type, event.iteration, event.response.output_text] : [event.type];
}

/** A model call that returns when it is told to. */
function held(outcome: ScriptedOutcome) {
  const begun = deferred();
  const released = deferred();
  const step = async (): Promise<ScriptedOutcome> => {
    begun.resolve();
    await released.promise;
    return outcome;
  };
  return { step, begun: begun.promise, release: () => released.resolve() };
}

for (const [name, open] of Object.entries(STORES)) {
  describe(
    `a message to a run (${name})`,
    inFlowingTime(() => {
      let opened: TestRunStore | undefined;
      let store: RunStore | undefined;
      const loops: AgenticLoop[] = [];
      let provider: ScriptedProvider;
      let effects: string[];
      beforeEach(async () => {
        opened = await open();
        store = opened?.store;
        effects = [];
      });
      afterEach(async () => {
        for (const loop of loops.splice(0)) await loop.close();
        await opened?.close();
      });
      const create = (...script: readonly ScriptedStep[]): AgenticLoop => {
        provider = new ScriptedProvider(script);
        const tool = (tool: string) => () => {
          effects.push(tool);
          return tool;
        };
        const loop = new AgenticLoop({
          provider,
          toolExecutor: new ToolRegistry()
            .register({ name: 'note', execute: tool('note') })
            .register({ name: 'pay', needsApproval: true, execute: tool('pay') })
            .register({ name: 'job', kind: 'external', blocking: false }),
          leaseTimes: { lease: 5_000, heartbeat: 20 },
          ...(store === undefined ? {} : { runStore: store }),
        });
        loops.push(loop);
        return loop;
      };
      const isWaiting = () => loops.some((loop) => loop.getToolStatistics('r')?.executing === 1);
      const requests = (): readonly (readonly string[])[] =>
        provider.calls.map(({ options }) => lines(options.input as readonly Item[]));

      it('reaches the model with the results of the turn', async () => {
        const first = held(calling({ name: 'note', call_id: 'c' }));
        const loop = create(first.step, 'Done.');
        const { done } = await loop.start('ann', OPTIONS);
        await first.begun;
        expect(await loop.send('r', 'One.')).to.include({ result: 'accepted' });
        await loop.send('r', [{ role: 'user', content: 'Two.' }]);
        first.release();
        const { transcript } = await done;
        expect(requests()[1]).to.deep.equal(['user: Begin.', 'calls note', 'result', 'user: One.', 'user: Two.']);
        expect(lines(transcript).at(-1)).to.equal('assistant: Done.');
        expect(await loop.queuedMessages('r')).to.deep.equal([]);
      });

      it('makes the run go on that was about to answer', async () => {
        const first = held('Done.');
        const loop = create(first.step, 'Done again.');
        const { done } = await loop.start('ann', OPTIONS);
        await first.begun;
        await loop.send('r', 'One more.');
        first.release();
        const { response } = await done;
        expect(response.output_text).to.equal('Done again.');
        expect(requests()[1]).to.deep.equal(['user: Begin.', 'assistant: Done.', 'user: One more.']);
      });

      it('that interrupts keeps and bills what the model has said', async () => {
        const said = eventsOf(answer('Once upon a time'));
        const part = said.slice(0, said.findIndex(({ type }) => type === 'response.output_text.delta') + 1);
        const begun = deferred();
        const loop = create(() => part, 'Sorry.');
        let isFirst = true;
        const stream = provider.stream.bind(provider);
        provider.stream = async function* (userId: string, options: GenerateOptions) {
          yield* stream(userId, options);
          if (!isFirst) return;
          isFirst = false;
          begun.resolve();
          await untilAborted(options);
        };
        const events: AgentEvent[] = [];
        loop.on('event', (event) => events.push(event));
        const { done } = await loop.start('ann', { ...OPTIONS, stream: true });
        await begun.promise;
        await loop.send('r', 'Stop!', { when: 'interrupt' });
        const { usage, transcript, iterations } = await done;
        expect(lines(transcript)).to.deep.equal([
          'user: Begin.',
          'assistant (interrupted): Once ',
          'user: Stop!',
          'assistant: Sorry.',
        ]);
        expect(iterations).to.equal(2);
        expect(usage).to.include({ estimated: true });
        const isOfMessages = ({ type }: AgentEvent): boolean =>
          type === 'llm:interrupted' || type === 'message:delivered' || type === 'llm:response';
        const seen = events.filter(isOfMessages);
        expect(seen.map(({ type }) => type)).to.deep.equal(['llm:interrupted', 'message:delivered', 'llm:response']);
        // A later reader of the run sees the same.
        const stored = await store?.load('r');
        if (stored !== undefined)
          expect(replayRun(stored).filter(isOfMessages).map(essence)).to.deep.equal(seen.map(essence));
      });

      it('for after the answer is the next turn, one after the other', async () => {
        const first = held('One.');
        const loop = create(first.step, 'Two.', 'Three.');
        const { done } = await loop.start('ann', OPTIONS);
        await first.begun;
        await loop.send('r', 'And two?', { when: 'after' });
        await loop.send('r', 'And three?', { when: 'after' });
        first.release();
        const { transcript } = await done;
        expect(lines(transcript)).to.deep.equal([
          'user: Begin.',
          'assistant: One.',
          'user: And two?',
          'assistant: Two.',
          'user: And three?',
          'assistant: Three.',
        ]);
      });

      for (const when of ['next', 'interrupt'] as const)
        it(`(${when}) wakes a run that waits for an approval, whose result comes late`, async () => {
          const loop = create(calling({ name: 'pay', call_id: 'c' }), 'I see.', 'Paid.');
          const { done } = await loop.start('ann', OPTIONS);
          const callState = () => loop.getExecutionContext('r')?.toolCalls.get('c')?.state;
          await until(() => callState() === 'awaiting_approval');
          await loop.send('r', 'Hurry up.', { when });
          await until(() => provider.calls.length === 2);
          await loop.approve('r', 'c');
          const { transcript } = await done;
          expect(effects).to.deep.equal(['pay']);
          expect(lines(transcript)).to.deep.equal([
            'user: Begin.',
            'calls pay',
            'accepted',
            'user: Hurry up.',
            'assistant: I see.',
            'late result',
            'assistant: Paid.',
          ]);
        });

      it('wakes a run that waits for a late result', async () => {
        const loop = create(calling({ name: 'job', call_id: 'c' }), 'Started.', 'Hello!', 'Finished.');
        const { done } = await loop.start('ann', OPTIONS);
        await until(() => isWaiting() && provider.calls.length === 2);
        await loop.send('r', 'Later.', { when: 'after' });
        await loop.send('r', 'Hello?');
        await until(() => provider.calls.length === 3);
        await loop.withdrawMessage('r', (await loop.queuedMessages('r'))[0]!.messageId);
        await loop.submitToolResult('r', 'c', { output: 'done' });
        const { transcript } = await done;
        expect(lines(transcript).slice(3)).to.deep.equal([
          'assistant: Started.',
          'user: Hello?',
          'assistant: Hello!',
          'late result',
          'assistant: Finished.',
        ]);
      });

      it('can be changed and withdrawn until the run takes it', async () => {
        const first = held('Done.');
        const loop = create(first.step, 'Done again.');
        const { done } = await loop.start('ann', OPTIONS);
        await first.begun;
        await loop.send('r', 'First.', { messageId: 'a' });
        await loop.send('r', 'Second.', { messageId: 'b' });
        await loop.send('r', 'Third.', { messageId: 'c', when: 'after' });
        await loop.editMessage('r', 'a', { message: 'First, edited.' });
        await loop.withdrawMessage('r', 'b');
        await loop.editMessage('r', 'c', { when: 'next' });
        expect((await loop.queuedMessages('r')).map(({ messageId, when }) => `${messageId} ${when}`)).to.deep.equal([
          'a next',
          'c next',
        ]);
        first.release();
        await done;
        expect(requests()[1]?.slice(2)).to.deep.equal(['user: First, edited.', 'user: Third.']);
        expect(await failure(loop.editMessage('r', 'a', { message: 'x' }))).to.be.instanceOf(ConflictError);
        expect(await failure(loop.withdrawMessage('r', 'b'))).to.be.instanceOf(ConflictError);
      });

      it('is delivered once however often it is sent, and refused by a run that has ended', async () => {
        const first = held('Done.');
        const loop = create(first.step, 'Done again.');
        const { done } = await loop.start('ann', OPTIONS);
        await first.begun;
        await loop.send('r', 'Once.', { messageId: 'a' });
        expect(await loop.send('r', 'Once.', { messageId: 'a' })).to.include({ result: 'repeated' });
        first.release();
        await done;
        expect(provider.calls).to.have.length(2);
        const error = await failure(loop.send('r', 'Too late.'));
        expect(error).to.be.instanceOf(ConflictError);
        expect((error as Error).message).to.contain('has ended');
        expect(await failure(loop.send('unknown', 'Hello?'))).to.be.instanceOf(LLMInvalidRequestError);
      });

      it('is checked before it is kept', async () => {
        const first = held('Done.');
        const loop = create(first.step);
        const { done } = await loop.start('ann', OPTIONS);
        await first.begun;
        const refused = [
          loop.send('r', []),
          loop.send('r', [{ role: 'assistant', content: 'I am the model.' }]),
          loop.send('r', [
            { role: 'user', content: 'One.' },
            { role: 'user', content: 'Two.' },
          ]),
          loop.send('r', 'x'.repeat(1024 * 1024)),
          loop.send('r', 'When?', { when: 'soon' as 'next' }),
          loop.send('r', 'Who?', { messageId: '' }),
        ];
        for (const error of await Promise.all(refused.map((each) => failure(each))))
          expect(error).to.be.instanceOf(LLMInvalidRequestError);
        first.release();
        await done;
        expect(provider.calls).to.have.length(1);
      });

      it('restarts the count of iterations, and is bounded by the budget', async () => {
        const first = held('One.');
        const loop = create(first.step, 'Two.', 'Three.');
        const { done } = await loop.start('ann', { ...OPTIONS, maxIterations: 1, budget: { calls: 2 } });
        await first.begun;
        await loop.send('r', 'Two?', { when: 'after' });
        await loop.send('r', 'Three?', { when: 'after', messageId: 'three' });
        first.release();
        expect(await failure(done)).to.include({ code: 'budget-exceeded' });
        expect(provider.calls).to.have.length(2);
      });

      if (name !== 'none') {
        it('reaches a run of another process', async () => {
          const other = create();
          const first = held('Done.');
          const owner = create(first.step, 'I see.');
          const { done } = await owner.start('ann', OPTIONS);
          await first.begun;
          await other.send('r', 'From afar.');
          expect((await owner.queuedMessages('r')).map(({ item }) => textOfContent(item.content))).to.deep.equal([
            'From afar.',
          ]);
          first.release();
          await until(() => provider.calls.length === 2);
          expect(requests()[1]).to.deep.equal(['user: Begin.', 'assistant: Done.', 'user: From afar.']);
          await done;
          expect(await failure(other.send('r', 'Too late.'))).to.be.instanceOf(ConflictError);
        });

        it('that interrupts does so in another process', async () => {
          const other = create();
          const begun = deferred();
          const owner = create((options) => {
            begun.resolve();
            return untilAborted(options);
          }, 'I see.');
          const { done } = await owner.start('ann', OPTIONS);
          await begun.promise;
          await other.send('r', 'Stop.', { when: 'interrupt' });
          const { transcript } = await done;
          expect(lines(transcript)).to.deep.equal(['user: Begin.', 'user: Stop.', 'assistant: I see.']);
        });

        it('wakes the run when it is sent again after its sender has died before it told the run', async () => {
          const owner = create(calling({ name: 'job', call_id: 'c' }), 'Started.', 'Hello!', 'Finished.');
          const { done } = await owner.start('ann', OPTIONS);
          await until(() => isWaiting() && provider.calls.length === 2);
          const script = provider;
          const [item] = normalizeInput('Hello?') as readonly [MessageItem];
          await store!.messages.add('r', { messageId: 'a', when: 'next', item, at: Date.now() });
          expect(await create().send('r', 'Hello?', { messageId: 'a' })).to.include({ result: 'repeated' });
          await until(() => script.calls.length === 3);
          await owner.submitToolResult('r', 'c', { output: 'done' });
          expect(lines((await done).transcript).slice(4, 6)).to.deep.equal(['user: Hello?', 'assistant: Hello!']);
        });

        it('survives the process that has taken it', async () => {
          const first = held('Done.');
          const begun = deferred();
          const owner = create(first.step, (options) => {
            begun.resolve();
            return untilAborted(options);
          });
          const { done } = await owner.start('ann', OPTIONS);
          done.catch(() => undefined);
          await first.begun;
          await owner.send('r', 'Taken.', { when: 'after' });
          await owner.send('r', 'Waiting.', { when: 'after' });
          first.release();
          await begun.promise;
          const { transcript } = await create('First.', 'Second.').resume('r');
          expect(lines(transcript)).to.deep.equal([
            'user: Begin.',
            'assistant: Done.',
            'user: Taken.',
            'assistant: First.',
            'user: Waiting.',
            'assistant: Second.',
          ]);
        });
      }
    }),
  );
}
