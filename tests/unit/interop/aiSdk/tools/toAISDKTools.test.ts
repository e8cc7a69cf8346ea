import { generateText, isStepCount } from 'ai';
import { expect } from 'chai';
import { z } from 'zod';
import type { ToolCallContext } from '../../../../../imports/business/ai/domain/interfaces/IToolExecutor';
import type { RegisteredTool } from '../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { createBolide } from '../../../../../imports/interop/aiSdk/model/createBolide';
import { toAISDKTools } from '../../../../../imports/interop/aiSdk/tools/toAISDKTools';
import { tool } from '../../../../../imports/library/tool';
import { answer, calling } from '../../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../../imports/testing/ScriptedProvider';

async function play(
  tools: readonly RegisteredTool[],
  args: unknown,
): Promise<{
  readonly results: readonly unknown[];
  readonly provider: ScriptedProvider;
  readonly types: readonly string[];
}> {
  const provider = new ScriptedProvider([calling({ name: 't', arguments: args, call_id: 'call_1' }), answer('Done.')]);
  const { steps } = await generateText({
    model: createBolide({ provider })('scripted/m'),
    prompt: 'go',
    tools: toAISDKTools(tools, { userId: 'ann', executionId: 'chat-1' }),
    stopWhen: isStepCount(2),
  });
  const content = steps[0]?.content ?? [];
  return {
    results: content.flatMap((part) =>
      part.type === 'tool-result' ? [part.output as unknown] : part.type === 'tool-error' ? [part.error] : [],
    ),
    provider,
    types: content.map(({ type }) => type),
  };
}

describe('toAISDKTools', () => {
  it('runs a tool with its arguments and the context of the call', async () => {
    const contexts: ToolCallContext[] = [];
    const t = tool({
      name: 't',
      description: 'Doubles.',
      parameters: z.object({ n: z.number() }),
      execute: ({ n }, context) => {
        contexts.push(context);
        context.progress(0.5);
        return { doubled: n * 2 };
      },
    });
    const { results, provider } = await play([t], { n: 4 });
    expect(results).to.deep.equal([{ doubled: 8 }]);
    expect(contexts[0]).to.include({ userId: 'ann', executionId: 'chat-1', callId: 'call_1' });
    expect(contexts[0]).to.include({ idempotencyKey: 'chat-1:call_1' });
    expect(contexts[0]?.signal.aborted).to.equal(false);
    expect(provider.calls[0]!.options.tools![0]).to.include({ name: 't', description: 'Doubles.' });
  });

  it('rejects arguments that violate a JSON Schema', async () => {
    const t = tool({
      name: 't',
      parameters: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
      execute: () => 'never',
    });
    const { results } = await play([t], { n: 'four' });
    expect(String(results[0])).to.include('n');
    expect(results).not.to.include('never');
  });

  it('asks for an approval with the id of the call', async () => {
    const asked: unknown[] = [];
    const t = tool({
      name: 't',
      parameters: z.object({ n: z.number() }),
      needsApproval: ({ n }, context) => {
        asked.push([n, context]);
        return true;
      },
      execute: () => 'never',
    });
    const { types } = await play([t], { n: 4 });
    expect(types).to.include('tool-approval-request');
    expect(asked).to.deep.equal([[4, { userId: 'ann', executionId: 'chat-1', callId: 'call_1' }]]);
  });

  it('leaves external tools to the application', () => {
    expect(toAISDKTools([{ name: 't', kind: 'external' }]).t).not.to.have.property('execute');
  });
});
