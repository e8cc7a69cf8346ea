/** Runs whose provider is removed: they end with an error that names it, and reach no other account. */
import { expect } from 'chai';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { LLMManager } from '../../imports/business/ai/application/services/LLMManager';
import { LLMModelNotFoundError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { ILLMProvider } from '../../imports/business/ai/domain/interfaces/ILLMProvider';
import { MemoryRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling } from '../../imports/testing/responses';
import { ScriptedProvider } from '../../imports/testing/ScriptedProvider';
import { failure } from '../support/failure';
import { recordEvents } from '../support/recordEvents';
import { RecordingLogger } from '../support/RecordingLogger';

const RUN = 'run';

describe('a run whose provider is removed', () => {
  const logger = new RecordingLogger();
  const loopOf = (store: MemoryRunStore, providers: Readonly<Record<string, ILLMProvider>>): AgenticLoop =>
    new AgenticLoop({
      provider: new LLMManager({ providers, logger }),
      toolExecutor: new ToolRegistry().register({ name: 'pay', needsApproval: true, execute: () => 'paid' }),
      runStore: store,
      logger,
    });
  const wait = async (store: MemoryRunStore, model: string): Promise<void> => {
    const providers = { mine: new ScriptedProvider([calling({ name: 'pay', call_id: 'p' })]) };
    const loop = loopOf(store, providers);
    const record = recordEvents(loop);
    void loop.execute('ann', { model, input: 'go', tools: ['pay'], executionId: RUN }).catch(() => undefined);
    await record.seen('tool:approval_required');
    await loop.close();
  };
  const endOf = async (loop: AgenticLoop): Promise<unknown> => {
    const done = loop.resume(RUN);
    done.catch(() => undefined);
    await recordEvents(loop).seen('run:started');
    await loop.approve(RUN, 'p');
    return done;
  };

  for (const model of ['mine', 'mine/small', 'small'])
    for (const others of [['theirs'], ['theirs', 'ours']])
      it(`ends with an error that names it (model "${model}", ${others.length} others)`, async () => {
        const store = new MemoryRunStore();
        await wait(store, model);
        const providers = Object.fromEntries(
          others.map((id) => [id, new ScriptedProvider([answer('from elsewhere')])]),
        );
        const error = await failure(endOf(loopOf(store, providers)));
        expect(error).to.be.instanceOf(LLMModelNotFoundError);
        expect((error as Error).message).to.include('the provider "mine", which does not exist any more');
        expect((await store.load(RUN))?.run).to.include({ state: 'failed' });
        for (const provider of Object.values(providers)) expect(provider.calls).to.have.length(0);
      });

  it('goes on if the provider is there again', async () => {
    const store = new MemoryRunStore();
    await wait(store, 'mine/small');
    const providers = { theirs: new ScriptedProvider([]), mine: new ScriptedProvider([answer('done')]) };
    expect(await endOf(loopOf(store, providers))).to.have.nested.property('response.output_text', 'done');
  });
});
