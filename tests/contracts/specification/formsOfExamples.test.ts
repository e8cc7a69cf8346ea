/** Forms in which the examples of the specification read what they get. */
import { expect } from 'chai';
import { AgenticLoop } from '../../../imports/business/ai/application/services/AgenticLoop';
import { LLMClient } from '../../../imports/business/ai/application/services/LLMClient';
import { LLMManager } from '../../../imports/business/ai/application/services/LLMManager';
import { ResponseHandler } from '../../../imports/business/ai/application/services/ResponseHandler';
import { ToolExecutionLoop } from '../../../imports/business/ai/application/services/ToolExecutionLoop';
import { ToolProcessor } from '../../../imports/business/ai/application/services/ToolProcessor';
import { ResilientProvider } from '../../../imports/business/ai/application/services/routing/ResilientProvider';
import { LLMInvalidRequestError, LLMRateLimitError } from '../../../imports/business/ai/domain/errors/LLMErrors';
import { streamWithBufferedFunctions } from '../../../imports/business/ai/infrastructure/streaming/streamWithBufferedFunctions';
import { UnifiedStreamAdapter } from '../../../imports/business/ai/infrastructure/streaming/UnifiedStreamAdapter';
import type { StreamPair } from '../../../imports/business/ai/infrastructure/streaming/UnifiedStreamAdapter';
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { answer, calling, refusing } from '../../../imports/testing/responses';
import { ScriptedProvider } from '../../../imports/testing/ScriptedProvider';
import { failure } from '../../support/failure';
import { RecordingLogger } from '../../support/RecordingLogger';

describe('The result of a run', () => {
  const setUp = (): AgenticLoop =>
    new AgenticLoop({
      provider: new ScriptedProvider([calling({ name: 'f', call_id: 'c', arguments: { a: 1 } }), answer('Done.')]),
      toolExecutor: new ToolRegistry().register({ name: 'f', execute: () => 'result' }),
    });

  it('has the text of the answer', async () => {
    const { output_text } = await setUp().execute('ann', { model: 'm', input: 'Go.', tools: ['f'] });
    expect(output_text).to.equal('Done.');
  });

  it('is preceded by events whose calls have their name and arguments in "function", too', async () => {
    const loop = setUp();
    const functions: unknown[] = [];
    loop.on('tool:completed', ({ toolCall }) => functions.push(toolCall.function));
    await loop.execute('ann', { model: 'm', input: 'Go.', tools: ['f'] });
    expect(functions).to.deep.equal([{ name: 'f', arguments: '{"a":1}' }]);
  });
});

describe('The client for structured requests', () => {
  const setUp = (script: ConstructorParameters<typeof ScriptedProvider>[0]) => {
    const logger = new RecordingLogger();
    const upstream = new ScriptedProvider(script, { capabilities: { keepsState: true } });
    const provider = new ResilientProvider({ provider: upstream, sleep: () => Promise.resolve() });
    const entities = [{ identity: { id: 'bob' } }];
    const client = new LLMClient({ provider, userId: 'ann', model: 'm', defaultDepth: 1, entities, logger });
    return { client, logger };
  };

  it('logs requests, responses and chains at the level debug', async () => {
    const { client, logger } = setUp([answer('Fine.', { id: 'one' })]);
    await client.createResponse({ input: 'How are you?', entityKey: 'mood:bob' });
    expect(logger.debugs).to.deep.equal([
      'A request is sent.',
      'A response was received.',
      'The chain of "mood:bob" continues.',
    ]);
  });

  it('warns that the rate of its requests is limited', async () => {
    const { client, logger } = setUp([new LLMRateLimitError('Slow down.'), answer('Fine.')]);
    await client.createResponse({ input: 'How are you?' });
    expect(logger.warnings).to.have.length(1);
  });

  it('logs an error before it throws it', async () => {
    const { client, logger } = setUp([refusing('I do not want to.')]);
    const error = await failure(client.createResponse({ input: 'How are you?' }));
    expect(logger.errors).to.deep.equal([`A request failed: ${(error as Error).message}`]);
  });
});

describe('A constructor', () => {
  const provider = new ScriptedProvider();
  const registry = new ToolRegistry();
  const CASES: Readonly<Record<string, readonly [create: () => unknown, path: string]>> = {
    AgenticLoop: [() => new AgenticLoop(provider as never), 'provider'],
    LLMManager: [() => new LLMManager(provider as never), 'provider'],
    LLMClient: [() => new LLMClient(undefined as never), 'provider'],
    ResponseHandler: [() => new ResponseHandler(provider as never), 'loop'],
    ToolProcessor: [() => new ToolProcessor(registry as never), 'toolExecutor'],
    ToolExecutionLoop: [() => new ToolExecutionLoop(registry as never), 'toolExecutor'],
  };
  for (const [name, [create, path]] of Object.entries(CASES))
    it(`of ${name} says that it takes one object, to a program that passes one argument after another`, () => {
      expect(create).to.throw(LLMInvalidRequestError, `Pass one object: new ${name}({ `).with.property('path', path);
    });
});

describe('A stream', () => {
  const DATA = [
    { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', model: 'c', content: [] } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ];
  const source = async function* (): AsyncGenerator<Uint8Array> {
    await Promise.resolve();
    for (const event of DATA) yield Buffer.from(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  };
  const READERS: Readonly<Record<string, () => AsyncGenerator<StreamPair, void, undefined>>> = {
    'new UnifiedStreamAdapter(source)': () => new UnifiedStreamAdapter('anthropic').processStream(source()),
    'streamWithBufferedFunctions(response, source)': () => streamWithBufferedFunctions(source(), 'anthropic'),
    'streamWithBufferedFunctions(response, source, target, options)': () =>
      streamWithBufferedFunctions(source(), 'anthropic', 'openai', { model: 'c' }),
  };
  for (const [form, open] of Object.entries(READERS))
    it(`is read by ${form}, which writes the scheme "openai"`, async () => {
      const lines: string[] = [];
      for await (const [line] of open()) lines.push(line);
      expect(lines[1]).to.include('chat.completion.chunk').and.to.include('Hi');
    });
});

describe('A native session', () => {
  it('runs with an initial response and an adapter, on all tools of the executor', async () => {
    const asked: unknown[] = [];
    const toolExecutor = new ToolRegistry().register({
      name: 'clock',
      execute: (_args: unknown, { userId }: { readonly userId: string }) => void asked.push(userId),
    });
    const adapter = {
      getToolCalls: (response: string) =>
        response === 'call' ? [{ call_id: 'c', name: 'clock', arguments: '{}' }] : [],
      recordAssistantMessage: () => undefined,
      buildToolResponseMessage: () => 'result',
      sendToolResponses: () => Promise.resolve('Noon.'),
    };
    const loop = new ToolExecutionLoop({ toolExecutor });
    expect((await loop.run({ initialResponse: 'call', adapter })).response).to.equal('Noon.');
    expect(asked).to.deep.equal(['local']);
  });
});

describe('The access to a provider', () => {
  it('is valid or not, also for a program that returns a boolean', async () => {
    for (const access of [true, false]) {
      const own = Object.assign(new ScriptedProvider(), { validateAccess: () => Promise.resolve(access) });
      const manager = new LLMManager({ provider: own });
      expect(await manager.validateAccess('ann')).to.deep.equal({ valid: access });
    }
  });
});
