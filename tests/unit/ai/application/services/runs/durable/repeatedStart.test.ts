/** A client that got no answer in time starts its run again, while the first attempt is still being recorded. */
import { expect } from 'chai';
import { AgenticLoop } from '../../../../../../../imports/business/ai/application/services/AgenticLoop';
import { ConflictError, StoreUnavailableError } from '../../../../../../../imports/business/ai/domain/errors/LLMErrors';
import { MemoryRunStore } from '../../../../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer } from '../../../../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../../../../imports/testing/ScriptedProvider';
import { deferred } from '../../../../../../support/deferred';
import { failure } from '../../../../../../support/failure';

/** @returns starts the run "r"; the first write that records it waits for `first` */
function setUp(first: Promise<void>): () => ReturnType<AgenticLoop['start']> {
  let attempts = 0;
  const store = new (class extends MemoryRunStore {
    override async create(...args: Parameters<MemoryRunStore['create']>): ReturnType<MemoryRunStore['create']> {
      attempts += 1;
      if (attempts === 1) await first;
      return super.create(...args);
    }
  })();
  const loop = new AgenticLoop({
    provider: new ScriptedProvider([answer('done')]),
    toolExecutor: new ToolRegistry(),
    runStore: store,
  });
  return () => loop.start('ann', { model: 'm', input: 'go', executionId: 'r' });
}

describe('A run that is started again before it is recorded', () => {
  it('starts once if the first attempt fails', async () => {
    const first = deferred();
    const start = setUp(first.promise);
    const attempts = [start(), start(), start()] as const;
    const failures = Promise.all([failure(attempts[0]), failure(attempts[2])]);
    first.reject(new StoreUnavailableError('The store cannot be reached.'));
    const { done } = await attempts[1];
    const [unavailable, conflict] = await failures;
    expect(unavailable).to.be.instanceOf(StoreUnavailableError);
    expect(conflict).to.be.instanceOf(ConflictError);
    expect((await done).response.output_text).to.equal('done');
  });

  it('is a conflict once the first attempt has succeeded', async () => {
    const first = deferred();
    const start = setUp(first.promise);
    const [started, repeated] = [start(), failure(start())];
    first.resolve();
    expect(await repeated).to.be.instanceOf(ConflictError);
    expect((await (await started).done).response.output_text).to.equal('done');
  });
});
