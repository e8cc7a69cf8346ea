import { expect } from 'chai';
import { AgenticLoop } from '../../../../../imports/business/ai/application/services/AgenticLoop';
import { LLMManager } from '../../../../../imports/business/ai/application/services/LLMManager';
import { AgenticExecutionUseCase } from '../../../../../imports/business/ai/application/usecases/AgenticExecutionUseCase';
import { RunLauncher } from '../../../../../imports/business/ai/application/usecases/RunLauncher';
import { readToolsRequest } from '../../../../../imports/business/ai/application/operations/readArguments';
import { ConflictError, LLMInvalidRequestError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { Actor } from '../../../../../imports/business/ai/domain/types/Actor';
import type { Item } from '../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { MemoryRunStore } from '../../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { failure } from '../../../../support/failure';
import { recordEvents } from '../../../../support/recordEvents';
import { answer, calling } from '../../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../../../../imports/testing/ScriptedProvider';

const ann: Actor = { userId: 'ann', source: 'method' };
const bob: Actor = { userId: 'bob', source: 'method' };

function setUp(...script: readonly ScriptedStep[]) {
  const provider = new ScriptedProvider(script, { name: 'openai' });
  const tools = new ToolRegistry()
    .register({ name: 'clock', execute: () => 'noon' })
    .register({ name: 'ask', external: true });
  const manager = new LLMManager({ providers: { openai: provider }, toolExecutor: tools });
  const runs = new MemoryRunStore();
  const loop = new AgenticLoop({ provider: manager, toolExecutor: tools, runStore: runs });
  const launcher = new RunLauncher({
    access: { decide: () => Promise.resolve({ allowed: true }) },
    loop,
    runs,
    providers: new Map([['openai', provider]]),
  });
  const agentic = new AgenticExecutionUseCase(launcher);
  let requests = 0;
  const start = async (fields: object, actor = ann): Promise<string> => {
    requests += 1;
    const request = readToolsRequest([
      { requestId: `r${requests}`, providerId: 'openai', tools: ['clock', 'ask'], ...fields },
    ]);
    const { executionId } = await agentic.start(actor, request);
    return executionId;
  };
  const run = async (fields: object): Promise<string> => {
    const executionId = await start(fields);
    await loop.waitForResult(executionId);
    return executionId;
  };
  const texts = (call: number) => describeItems(provider.calls[call]?.options.input as readonly Item[]);
  return { loop, runs, record: recordEvents(loop), start, run, texts };
}

const describeItems = (items: readonly Item[]) =>
  items.map((item) => {
    if (item.type === 'message')
      return `${item.role}: ${item.content.map((part) => ('text' in part ? part.text : '')).join('')}`;
    if (item.type === 'function_call_output') return `output: ${JSON.stringify(item.output)}`;
    return item.type;
  });

describe('a run that continues another', () => {
  it('receives the other’s conversation before its own input', async () => {
    const { run, texts, runs } = setUp(calling({ name: 'clock' }), answer('Noon.'), answer('One.'));
    const first = await run({ input: 'What time is it?', conversationId: 'c' });
    const second = await run({ input: 'And in an hour?', conversationId: 'c', continues: first });
    expect(texts(2)).to.deep.equal([
      'user: What time is it?',
      'function_call',
      'output: "noon"',
      'assistant: Noon.',
      'user: And in an hour?',
    ]);
    const stored = (await runs.load(second))?.run;
    expect(stored).to.include({ title: 'And in an hour?', conversationId: 'c' });
    expect(stored?.transcript).to.have.length(6);
  });

  it('answers the calls that the other left open', async () => {
    const { loop, start, run, record, texts } = setUp(calling({ name: 'ask' }), answer('Never mind.'));
    const first = await start({ input: 'Ask an expert.' });
    await record.seen('tool:executing');
    await loop.cancel(first);
    await failure(loop.waitForResult(first));
    await run({ input: 'Leave it.', continues: first });
    expect(texts(1)).to.deep.equal([
      'user: Ask an expert.',
      'function_call',
      'output: "Error: The run ended before the call did."',
      'user: Leave it.',
    ]);
  });

  it('is refused while the other runs', async () => {
    const { loop, start, record } = setUp(calling({ name: 'ask' }));
    const first = await start({ input: 'Ask an expert.' });
    await record.seen('tool:executing');
    const error = await failure(start({ input: 'Now?', continues: first }));
    expect(error).to.be.instanceOf(ConflictError).and.to.have.property('path', 'continues');
    await loop.cancel(first);
    await failure(loop.waitForResult(first));
  });

  it('is refused for another user’s run as for an unknown one', async () => {
    const { start, run } = setUp(answer('Noon.'));
    const first = await run({ input: 'What time is it?' });
    const errors = await Promise.all([
      failure(start({ input: 'And now?', continues: first }, bob)),
      failure(start({ input: 'And now?', continues: 'unknown' }, bob)),
    ]);
    for (const [error, id] of [[errors[0], first] as const, [errors[1], 'unknown'] as const])
      expect(error).to.be.instanceOf(LLMInvalidRequestError).with.property('message', `There is no run "${id}".`);
  });
});

describe('a run that repeats another', () => {
  it('receives the other’s input', async () => {
    const { run, texts } = setUp(answer('Noon.'), answer('Twelve.'), answer('12:00.'));
    const first = await run({ input: 'What time is it?' });
    const second = await run({ repeats: first });
    expect(texts(1)).to.deep.equal(['user: What time is it?']);
    await run({ repeats: second });
    expect(texts(2)).to.deep.equal(['user: What time is it?']);
  });

  for (const field of ['input', 'continues', 'conversation_history'])
    it(`takes no "${field}"`, () => {
      const request = { requestId: 'r', providerId: 'openai', repeats: 'x', [field]: field === 'input' ? 'Hi' : [] };
      expect(() => readToolsRequest([request]))
        .to.throw(LLMInvalidRequestError)
        .with.property('path', field);
    });
});
