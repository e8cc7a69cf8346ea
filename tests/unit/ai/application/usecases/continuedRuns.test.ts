import { expect } from 'chai';
import { AgenticLoop } from '../../../../../imports/business/ai/application/services/AgenticLoop';
import { LLMManager } from '../../../../../imports/business/ai/application/services/LLMManager';
import { AgenticExecutionUseCase } from '../../../../../imports/business/ai/application/usecases/AgenticExecutionUseCase';
import { RunLauncher } from '../../../../../imports/business/ai/application/usecases/RunLauncher';
import { runRequest } from '../../../../../imports/business/ai/application/operations/runRequestSchemas';
import { readArgument } from '../../../../../imports/host/schemas';
import { ConflictError, LLMInvalidRequestError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import { assistantMessage, userMessage } from '../../../../../imports/business/ai/domain/entities/Message';
import { forkedConversation } from '../../../../../imports/business/ai/application/usecases/forkedConversation';
import type { Actor } from '../../../../../imports/business/ai/domain/types/Actor';
import type { Item } from '../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { MemoryRunStore } from '../../../../../imports/business/ai/infrastructure/persistence/runs/MemoryRunStore';
import { ToolRegistry } from '../../../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { failure } from '../../../../support/failure';
import { RecordingLogger } from '../../../../support/RecordingLogger';
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
    .register({ name: 'ask', kind: 'external' });
  const manager = new LLMManager({ providers: { openai: provider }, toolExecutor: tools });
  const runs = new MemoryRunStore();
  const loop = new AgenticLoop({ provider: manager, toolExecutor: tools, runStore: runs });
  const followed: string[] = [];
  const launcher = new RunLauncher({
    access: { decide: () => Promise.resolve({ allowed: true }) },
    loop,
    runs,
    providers: new Map([['openai', provider]]),
    onFollowed: (executionId) => {
      followed.push(executionId);
      return Promise.reject(new Error('The store is away.'));
    },
    logger: new RecordingLogger(),
  });
  const agentic = new AgenticExecutionUseCase(launcher, manager);
  let requests = 0;
  const start = async (fields: object, actor = ann): Promise<string> => {
    requests += 1;
    const request = readArgument(runRequest, {
      requestId: `r${requests}`,
      providerId: 'openai',
      tools: ['clock', 'ask'],
      ...fields,
    });
    const { executionId } = await agentic.start(actor, request);
    return executionId;
  };
  const run = async (fields: object): Promise<string> => {
    const executionId = await start(fields);
    await loop.waitForResult(executionId);
    return executionId;
  };
  const texts = (call: number) => describeItems(provider.calls[call]?.options.input as readonly Item[]);
  return { loop, runs, provider, record: recordEvents(loop), start, run, texts, followed };
}

const describeItems = (items: readonly Item[]) =>
  items.map((item) => {
    if (item.type === 'message')
      return `${item.role}: ${item.content.map((part) => ('text' in part ? part.text : '')).join('')}`;
    if (item.type === 'function_call_output') return `output: ${JSON.stringify(item.output)}`;
    return item.type;
  });

describe('a run that a client starts', () => {
  it('is stored as often as its request says', async () => {
    const { run, runs } = setUp(answer('Soon.'), answer('At once.'));
    const lazy = await run({ input: 'When?', durability: 'end' });
    expect((await runs.load(lazy))?.run.plan.durability).to.equal('end');
    const plain = await run({ input: 'When?' });
    expect((await runs.load(plain))?.run.plan).not.to.have.property('durability');
    expect(await failure(run({ input: 'When?', durability: 'never' })))
      .to.be.instanceOf(LLMInvalidRequestError)
      .and.to.have.property('path', 'durability');
  });
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

  it('is reported with the other’s id, as repetitions and forks are, and starts even if the report fails', async () => {
    const { run, followed } = setUp(answer('One.'), answer('Two.'), answer('Three.'), answer('Four.'), answer('Five.'));
    const first = await run({ input: 'Count.' });
    expect(followed).to.deep.equal([]);
    const second = await run({ input: 'On.', continues: first });
    const third = await run({ repeats: second });
    const fourth = await run({ forkOf: { executionId: third, turn: 1 } });
    await run({ startedFrom: fourth, input: 'Count down.' });
    expect(followed).to.deep.equal([first, second, third, fourth]);
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

  for (const field of ['input', 'continues', 'conversation_history', 'forkOf'])
    it(`takes no "${field}"`, () => {
      const request = { requestId: 'r', providerId: 'openai', repeats: 'x', [field]: field === 'input' ? 'Hi' : [] };
      expect(() => readArgument(runRequest, request))
        .to.throw(LLMInvalidRequestError)
        .with.property('path', field);
    });
});

describe('a run that is forked from another', () => {
  const twoTurns = [
    calling({ name: 'clock', call_id: 'c1' }),
    calling({ name: 'clock', call_id: 'c2' }),
    answer('Noon.'),
  ] as const;

  it('receives the other’s conversation before a model call, and its own input', async () => {
    const { run, texts } = setUp(...twoTurns, answer('One.'), answer('Two.'), answer('Three.'), answer('Four.'));
    const first = await run({ input: 'What time is it?' });
    await run({ forkOf: { executionId: first, turn: 1 } });
    expect(texts(3)).to.deep.equal(texts(0));
    await run({ forkOf: { executionId: first, turn: 2 } });
    expect(texts(4)).to.deep.equal(texts(1));
    await run({ forkOf: { executionId: first, turn: 3 }, input: 'In Rome.', model: 'other' });
    expect(texts(5)).to.deep.equal([...texts(2), 'user: In Rome.']);
    await run({ forkOf: { executionId: first, turn: 4 }, input: 'Really?' });
    expect(texts(6)).to.deep.equal([...texts(2), 'assistant: Noon.', 'user: Really?']);
  });

  it('does not wait for results that the other was promised', () => {
    const call = (call_id: string): Item => ({ type: 'function_call', call_id, name: 'ask', arguments: '{}' });
    const promise = (call_id: string): Item => ({
      type: 'function_call_output',
      call_id,
      output: 'Accepted.',
      status: 'in_progress',
    });
    const late: Item = { type: 'function_call_output', call_id: 'c1', output: 'Yes.', deferred: true };
    const input = userMessage('Ask them.');
    const transcript = [input, call('c1'), call('c2'), promise('c1'), promise('c2'), call('c3'), late, promise('c3')];
    const run = { input: [input], transcript, iterations: 2, isCalling: false };
    const cancelled = { status: 'completed', state: 'cancelled', output: 'Error: The call was cancelled.' };
    expect(forkedConversation(run, 2)).to.deep.equal([
      input,
      call('c1'),
      call('c2'),
      { ...promise('c1'), ...cancelled },
      { ...promise('c2'), ...cancelled },
    ]);
    expect(forkedConversation(run, 3).filter(({ type }) => type === 'function_call_output')).to.deep.equal([
      promise('c1'),
      { ...promise('c2'), ...cancelled },
      late,
      { ...promise('c3'), ...cancelled },
    ]);
  });

  it('is refused if the other’s conversation was dropped', () => {
    const input = [userMessage('Hi')];
    const transcript = [...input, assistantMessage('Bye.')];
    expect(() => forkedConversation({ input, transcript, iterations: 3, isCalling: false }, 2)).to.throw(ConflictError);
  });

  it('is refused for a turn that the other never reached, and for the runs of others', async () => {
    const { run, start } = setUp(answer('Noon.'), answer('Yes.'));
    const executionId = await run({ input: 'What time is it?' });
    expect(await failure(start({ forkOf: { executionId, turn: 3 } }))).to.include({ path: 'forkOf.turn' });
    const forkOf = { executionId, turn: 1 };
    const thrown = await failure(start({ forkOf }, bob));
    expect(thrown).to.include({ code: 'invalid-request', path: 'forkOf.executionId' });
    expect(await failure(start({ forkOf: { ...forkOf, executionId: 'none' } }))).to.be.instanceOf(
      LLMInvalidRequestError,
    );
    await start({ forkOf, input: 'Sure?' }, { ...bob, isAdmin: true });
  });

  it('is recorded as started anew with an input of its own, which is all that it receives', async () => {
    const { run, start, followed, texts } = setUp(answer('Noon.'), answer('One.'), answer('Two.'));
    const first = await run({ input: 'What time is it?' });
    await run({ startedFrom: first, input: 'What day is it?' });
    expect(texts(1)).to.deep.equal(['user: What day is it?']);
    const refused = await failure(start({ startedFrom: first, input: 'And now?' }, bob));
    expect(refused).to.include({ code: 'invalid-request', path: 'startedFrom' });
    expect(followed).to.deep.equal([first]);
    await start({ startedFrom: first, input: 'And now?' }, { ...bob, isAdmin: true });
    expect(followed).to.deep.equal([first, first]);
    for (const other of [{ continues: first }, { forkOf: { executionId: first, turn: 1 } }])
      expect(await failure(start({ startedFrom: first, input: 'x', ...other }))).to.include({ path: 'startedFrom' });
  });

  it('takes no "continues", and a turn from 1', () => {
    const request = { requestId: 'r', providerId: 'openai', forkOf: { executionId: 'x', turn: 1 } };
    const read = (fields: object) => () => readArgument(runRequest, { ...request, ...fields });
    expect(read({ continues: 'x' }))
      .to.throw(LLMInvalidRequestError)
      .with.property('path', 'continues');
    expect(read({ forkOf: { executionId: 'x', turn: 0 } }))
      .to.throw(LLMInvalidRequestError)
      .with.property('path', 'forkOf.turn');
  });
});

describe('a run with labels', () => {
  it('stores tags and metadata, which no vendor receives', async () => {
    const { run, runs, provider } = setUp(answer('Noon.'));
    const metadata = { ticket: 17, vip: true, channel: 'mail' };
    const executionId = await run({ input: 'Hi', tags: [' a ', 'b', 'a'], metadata });
    expect((await runs.load(executionId))?.run).to.deep.include({ tags: ['a', 'b'], metadata });
    expect(provider.calls[0]?.options).not.to.have.property('metadata');
  });

  it('refuses labels that are too many, too long, or of other types', () => {
    const WRONG: readonly (readonly [object, string])[] = [
      [{ tags: 'a' }, 'tags'],
      [{ tags: ['a,b'] }, 'tags[0]'],
      [{ tags: ['x'.repeat(65)] }, 'tags[0]'],
      [{ tags: Array.from({ length: 21 }, (_, index) => `${index}`) }, 'tags'],
      [{ metadata: [] }, 'metadata'],
      [{ metadata: { 'a.b': 1 } }, 'metadata'],
      [{ metadata: { $set: 1 } }, 'metadata'],
      [{ metadata: { a: { b: 1 } } }, 'metadata.a'],
      [{ metadata: { a: 'x'.repeat(513) } }, 'metadata.a'],
    ];
    for (const [fields, path] of WRONG)
      expect(() => readArgument(runRequest, { requestId: 'r', providerId: 'openai', input: 'Hi', ...fields }), path)
        .to.throw(LLMInvalidRequestError)
        .with.property('path', path);
  });
});
