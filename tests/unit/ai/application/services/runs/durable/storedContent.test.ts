/** A run that waits for long keeps nothing in memory of what it has read, and misses nothing when it goes on. */
import { expect } from 'chai';
import { AgenticLoop } from '../../../../../../../imports/business/ai/application/services/AgenticLoop';
import { isLLMError, StoreUnavailableError } from '../../../../../../../imports/business/ai/domain/errors/LLMErrors';
import { runOf } from '../../../../../../../imports/business/ai/domain/entities/Run';
import type { Item } from '../../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { MemoryRunStore } from '../../../../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling } from '../../../../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../../../../imports/testing/ScriptedProvider';
import { failure } from '../../../../../../support/failure';
import { RecordingLogger } from '../../../../../../support/RecordingLogger';
import { until } from '../../../../../../support/until';
import { inFlowingTime } from '../../../../../../support/VirtualTime';

const READ = 'a long text';

describe(
  'a run that waits for longer than a lease',
  inFlowingTime(() => {
    function setUp(waiting: 'ask' | 'order', ...rest: ConstructorParameters<typeof ScriptedProvider>[0] & object) {
      const provider = new ScriptedProvider([
        calling({ name: 'read', call_id: 'r' }),
        calling({ name: waiting, call_id: 'w' }),
        ...rest,
      ]);
      const toolExecutor = new ToolRegistry()
        .register({ name: 'read', execute: () => READ })
        .register({ name: 'ask', needsApproval: true, execute: () => 'asked' })
        .register({ name: 'order', kind: 'external', blocking: false });
      const store = new MemoryRunStore();
      const leaseTimes = { lease: 30, heartbeat: 10 };
      const loop = new AgenticLoop({
        provider,
        toolExecutor,
        runStore: store,
        leaseTimes,
        logger: new RecordingLogger(),
      });
      const done = loop.execute('ann', {
        executionId: 'x',
        model: 'm',
        input: 'Begin.',
        tools: ['read', waiting],
      });
      done.catch(() => undefined);
      const hasLeft = (): boolean => {
        const call = loop.getExecutionContext('x')?.toolCalls.get('r');
        return call?.state === 'completed' && call.result === '';
      };
      const resultIn = (call: number): unknown => {
        const input = provider.calls[call]?.options.input as readonly Item[];
        return input.find((item) => item.type === 'function_call_output' && item.call_id === 'r');
      };
      return { provider, store, loop, done, hasLeft, resultIn };
    }

    it('goes on with all of it after an approval', async () => {
      const { provider, store, loop, done, hasLeft, resultIn } = setUp('ask', answer('done'));
      await until(hasLeft);
      await loop.approve('x', 'w');
      const { transcript, toolCalls } = await done;
      expect(resultIn(2)).to.deep.include({ output: READ });
      expect(provider.calls[2]?.options.input).to.have.length(5);
      expect(transcript).to.have.length(6);
      expect(toolCalls[0]).to.include({ state: 'completed', result: READ });
      expect((await store.load('x'))?.run.transcript).to.deep.equal(transcript);
      expect((await store.load('x'))?.calls[0]).to.include({ result: READ });
      await loop.close();
    });

    it('goes on with all of it when the result arrives', async () => {
      const { store, loop, done, hasLeft, resultIn } = setUp('order', answer('I wait.'), answer('Thanks.'));
      await until(hasLeft);
      await loop.submitToolResult('x', 'w', { output: 'here' });
      const { transcript, response } = await done;
      expect(response.output_text).to.equal('Thanks.');
      expect(resultIn(3)).to.deep.include({ output: READ });
      expect((await store.load('x'))?.run.transcript).to.deep.equal(transcript);
      expect(transcript[0]).to.include({ role: 'user' });
      await loop.close();
    });

    it('reports and stores all of it when it is cancelled', async () => {
      const { store, loop, done, hasLeft } = setUp('order', answer('I wait.'));
      await until(hasLeft);
      await loop.cancel('x');
      const error = await failure(done);
      expect(isLLMError(error) && error.code).to.equal('aborted');
      expect(runOf(error)?.transcript).to.have.length(6);
      expect(runOf(error)?.toolCalls[0]).to.include({ result: READ });
      const stored = await store.load('x');
      expect(stored?.run.state).to.equal('cancelled');
      expect(stored?.run.transcript).to.have.length(6);
      await loop.close();
    });

    it('waits for a store that is out', async () => {
      const { store, loop, done, hasLeft } = setUp('ask', answer('done'));
      await until(hasLeft);
      const load = store.load.bind(store);
      let refused = 0;
      store.load = async (executionId) => {
        refused += 1;
        if (refused === 1) throw new StoreUnavailableError('The store is out.');
        return load(executionId);
      };
      await loop.approve('x', 'w');
      expect((await done).transcript).to.have.length(6);
      expect(refused).to.be.at.least(2);
      await loop.close();
    });

    it('stays where another process has taken it', async () => {
      const { store, loop, done, hasLeft, provider } = setUp('ask', answer('done'));
      await until(hasLeft);
      const before = await store.load('x');
      await store.claim({ executionId: 'x', fence: before!.run.fence }, 'other', 'requested');
      await loop.approve('x', 'w');
      await until(() => loop.local.size === 0);
      expect(provider.calls).to.have.length(2);
      const error = { code: 'aborted', message: 'Cancelled there.' } as const;
      await store.end({ executionId: 'x', fence: before!.run.fence + 1 }, { state: 'cancelled', endedAt: 1, error });
      expect(await failure(done)).to.have.property('message', 'Cancelled there.');
      await loop.close();
    });
  }),
);
