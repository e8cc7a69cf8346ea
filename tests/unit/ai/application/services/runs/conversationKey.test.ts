import { expect } from 'chai';
import { AgenticLoop } from '../../../../../../imports/business/ai/application/services/AgenticLoop';
import { conversationOf } from '../../../../../../imports/business/ai/application/services/routing/conversationOf';
import type { GenerateOptions, LLMInput } from '../../../../../../imports/business/ai/domain/types/LLMTypes';
import { ToolRegistry } from '../../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { ScriptedProvider } from '../../../../../../imports/testing/ScriptedProvider';
import { answer, calling } from '../../../../../../imports/testing/responses';

const toolExecutor = new ToolRegistry().register({ name: 'look', execute: () => 'seen' });

/** The options of the calls of a run, and what the next one continues. */
async function run(userId: string, input: LLMInput, options: Partial<GenerateOptions> = {}) {
  const provider = new ScriptedProvider([calling({ name: 'look' }), answer('done')]);
  const loop = new AgenticLoop({ provider, toolExecutor });
  const { transcript } = await loop.execute(userId, { model: 'm', input, tools: ['look'], ...options });
  return { transcript, calls: provider.calls.map((call) => call.options) };
}

function keyOf({ promptCache }: GenerateOptions): unknown {
  return typeof promptCache === 'object' ? promptCache.key : undefined;
}

describe('the prompt cache key of runs', () => {
  it('is the same for all that continue a conversation, and so is the account that serves them', async () => {
    const first = await run('ann', 'Look.');
    const second = await run('ann', [...first.transcript, { role: 'user', content: 'Again.' }]);
    const calls = [...first.calls, ...second.calls];
    expect(new Set(calls.map(keyOf))).to.have.length(1);
    expect(
      new Set(calls.map((options) => conversationOf({ ...options, turn: { executionId: 'r', iteration: 1 } }))),
    ).to.have.length(1);
  });

  it('is another one for another beginning and for another user, or the caller’s own', async () => {
    const keys = [await run('ann', 'Look.'), await run('ann', 'Look!'), await run('bob', 'Look.')].map(({ calls }) =>
      keyOf(calls[0]!),
    );
    expect(new Set(keys)).to.have.length(3);
    for (const key of keys) expect(key).to.match(/^[\w-]{43}$/);
    const { calls } = await run('ann', 'Look.', { promptCache: { key: 'mine' } });
    expect(calls.map(keyOf)).to.deep.equal(['mine', 'mine']);
  });
});
