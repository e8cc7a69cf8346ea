import { expect } from 'chai';
import { z } from 'zod';
import * as valibot from 'valibot';
import { runOf } from '../../../imports/business/ai/domain/entities/Run';
import { resolveModelName } from '../../../imports/library/modelName';
import { agent } from '../../../imports/library/Agent';
import type { Agent, AgentOptions } from '../../../imports/library/Agent';
import { DEFAULT_USER_ID } from '../../../imports/library/AgentSettings';
import { tool } from '../../../imports/library/tool';
import { LLMManager } from '../../../imports/business/ai/application/services/LLMManager';
import { createAIModule } from '../../../imports/business/ai/infrastructure/factories/createAIModule';
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import type { Item } from '../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { ScriptedProvider, untilAborted } from '../../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../../imports/testing/ScriptedProvider';
import { failure } from '../../support/failure';
import { answer, callItem, calling, textItem, usage } from '../../../imports/testing/responses';

const add = tool({
  name: 'add',
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: ({ a, b }) => a + b,
});

function scripted(
  steps: readonly ScriptedStep[],
  options: AgentOptions = {},
): { assistant: Agent; provider: ScriptedProvider } {
  const provider = new ScriptedProvider(steps);
  return { provider, assistant: agent({ provider, ...options }) };
}

describe('Agent', () => {
  it('sends its settings, which those of a call replace', async () => {
    const { assistant, provider } = scripted([answer('1'), answer('2')], {
      model: 'scripted/big',
      instructions: 'Be brief.',
      temperature: 0.5,
      topP: 0.9,
      topK: 40,
      seed: 7,
      presencePenalty: 1,
      frequencyPenalty: -1,
      maxOutputTokens: 100,
      reasoning: 'low',
      tools: [add, { type: 'web_search' }],
      toolChoice: 'auto',
      parallelToolCalls: false,
      stop: 'END',
      userId: 'ann',
    });
    await assistant.generate('Hi');
    await assistant.generate('Hi', {
      model: 'scripted/small',
      temperature: 0,
      reasoning: { effort: 'high' },
      userId: 'bob',
    });
    const [first, second] = provider.calls;
    expect(first?.userId).to.equal('ann');
    expect(first?.options).to.deep.include({
      model: 'big',
      instructions: 'Be brief.',
      temperature: 0.5,
      top_p: 0.9,
      top_k: 40,
      seed: 7,
      presence_penalty: 1,
      frequency_penalty: -1,
      max_output_tokens: 100,
      reasoning: { effort: 'low' },
      tool_choice: 'auto',
      parallel_tool_calls: false,
      stop: ['END'],
    });
    expect(first?.options.tools?.map((each) => ('name' in each ? each.name : each.type))).to.deep.equal([
      'add',
      'web_search',
    ]);
    expect(second?.userId).to.equal('bob');
    expect(second?.options).to.deep.include({ model: 'small', temperature: 0, reasoning: { effort: 'high' } });
  });

  it('has one documented user for calls that name none', async () => {
    const { assistant, provider } = scripted([answer('1')]);
    await assistant.generate('Hi');
    expect(provider.calls[0]?.userId).to.equal(DEFAULT_USER_ID);
  });

  it('takes messages with images and earlier items', async () => {
    const { assistant, provider } = scripted([answer('A cat.')]);
    await assistant.generate([
      { role: 'user', content: 'Look at this.' },
      { role: 'assistant', content: 'At what?' },
      { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/cat.png' } }, 'This.'] },
    ]);
    const input = provider.calls[0]?.options.input as readonly Item[];
    expect(input.map((item) => item.type === 'message' && item.role)).to.deep.equal(['user', 'assistant', 'user']);
    expect(JSON.stringify(input)).to.contain('input_image');
  });

  it('gives the text of an answer that the vendor delivered in several responses', async () => {
    const paused = answer('One, ', { vendor: { ...answer('').vendor, finish_reason: 'pause_turn' } });
    const { assistant } = scripted([paused, answer('two.')]);
    const result = await assistant.generate('Count');
    expect(result.text).to.equal('One, two.');
    expect(result.iterations).to.equal(2);
  });

  it('limits a run', async () => {
    const { assistant } = scripted([calling({ name: 'add', arguments: { a: 1, b: 1 } })], {
      tools: [add],
      maxIterations: 1,
    });
    expect(await failure(assistant.generate('Add'))).to.have.property('code', 'max-iterations');
    expect(await failure(assistant.generate('Add', { budget: { calls: 0 } }))).to.have.property(
      'code',
      'budget-exceeded',
    );
  });

  describe('generateObject', () => {
    const Person = z.object({ name: z.string(), age: z.number().int() });

    it('returns a value of the schema, with the result of its run', async () => {
      const { assistant } = scripted([answer('{"name":"Ada","age":36}')]);
      const {
        value,
        text,
        usage: used,
        executionId,
      } = await assistant.generateObject('Ada, 36', { schema: Person, executionId: 'e1' });
      expect(value).to.deep.equal({ name: 'Ada', age: 36 });
      expect(text).to.equal('{"name":"Ada","age":36}');
      expect(used.total_tokens).to.equal(15);
      expect(executionId).to.equal('e1');
    });

    it('transforms the value as the schema does', async () => {
      const { assistant } = scripted([answer('{"at":"2026-01-02"}')]);
      const schema = valibot.object({
        at: valibot.pipe(
          valibot.string(),
          valibot.transform((text) => new Date(text)),
        ),
      });
      const { value } = await assistant.generateObject('When?', { schema });
      expect(value.at.getUTCFullYear()).to.equal(2026);
    });

    it('runs tools first, and has an invalid value corrected in a second run', async () => {
      const { assistant, provider } = scripted(
        [
          calling({ name: 'add', arguments: { a: 30, b: 6 } }),
          answer('{"name":"Ada"}', { usage: usage(1, 1) }),
          answer('{"name":"Ada","age":36}', { usage: usage(2, 2) }),
        ],
        { tools: [add] },
      );
      const result = await assistant.generateObject('Ada, 30 + 6', { schema: Person });
      expect(result.value.age).to.equal(36);
      expect(result.usage.total_tokens).to.equal(15 + 2 + 4);
      expect(result.iterations).to.equal(3);
      expect(JSON.stringify(provider.calls.at(-1)?.options.input)).to.contain('age');
      provider.assertPlayedOut();
    });

    it('spends no more than the budget on the correction', async () => {
      const { assistant } = scripted([answer('{"name":"Ada"}')], { budget: { calls: 1 } });
      expect(await failure(assistant.generateObject('Ada', { schema: Person }))).to.have.property(
        'code',
        'budget-exceeded',
      );
    });

    it('throws the violations if the correction is invalid, too', async () => {
      const { assistant } = scripted([answer('{}'), answer('{"name":1}')]);
      const error = await failure(assistant.generateObject('Ada', { schema: Person }));
      expect(error).to.have.property('code', 'invalid-output');
      expect(error).to.have.property('text', '{"name":1}');
      expect(runOf(error)).to.include({ iterations: 2 });
    });

    it('throws an LLMError with the run if the schema’s own validation throws', async () => {
      const { assistant, provider } = scripted([answer('{"name":"Ada","age":36}')]);
      const fault = new TypeError('The database is closed.');
      const schema = Person.refine(() => {
        throw fault;
      });
      const error = await failure(assistant.generateObject('Ada', { schema, executionId: 'e1' }));
      expect(error).to.include({ code: 'invalid-output', cause: fault });
      expect(runOf(error)).to.include({ executionId: 'e1', iterations: 1 });
      provider.assertPlayedOut();
    });
  });

  describe('streamObject', () => {
    const Person = z.object({ name: z.string(), tags: z.array(z.string()) });

    async function valuesOf(stream: AsyncIterable<unknown>): Promise<string[]> {
      const values: string[] = [];
      for await (const value of stream) values.push(JSON.stringify(value));
      return values;
    }

    it('has the value as it is written, to any number of readers, and then the valid one', async () => {
      const { assistant } = scripted([answer('{"name":"Ada Love","tags": ["a", "b"]}')]);
      const run = assistant.streamObject('Ada', { schema: Person, executionId: 'e1' });
      const values = await valuesOf(run.objectStream);
      expect(values[0]).to.equal('{"name":"Ada "}');
      expect(values.at(-1)).to.equal('{"name":"Ada Love","tags":["a","b"]}');
      expect(await valuesOf(run.objectStream)).to.include(values.at(-1));
      expect(await run.value).to.deep.equal({ name: 'Ada Love', tags: ['a', 'b'] });
      expect((await run.result).executionId).to.equal('e1');
    });

    it('begins anew after a tool, and for the correction of an invalid value', async () => {
      const { assistant } = scripted(
        [
          answer('', {
            output: [textItem('I have [1, 2] to add.'), callItem({ name: 'add', arguments: { a: 1, b: 2 } })],
          }),
          answer('{"name": 1}'),
          answer('{"name":"Ada","tags": []}'),
        ],
        { tools: [add] },
      );
      const run = assistant.streamObject('Ada', { schema: Person });
      const values = await valuesOf(run.objectStream);
      expect(values).to.include('{"name":1}');
      expect(values.at(-1)).to.equal('{"name":"Ada","tags":[]}');
      expect((await run.result).iterations).to.equal(3);
    });

    it('throws to its readers what rejects its value', async () => {
      const { assistant } = scripted([answer('{}'), answer('{"name":1}')]);
      const run = assistant.streamObject('Ada', { schema: Person });
      expect(await failure(valuesOf(run.objectStream))).to.have.property('code', 'invalid-output');
      expect(await failure(run.value)).to.have.property('code', 'invalid-output');
    });

    it('is cancelled by itself and by the signal of its call', async () => {
      const { assistant } = scripted([untilAborted, untilAborted]);
      const run = assistant.streamObject('Ada', { schema: Person });
      await run.cancel();
      expect(await failure(run.value)).to.have.property('code', 'aborted');
      const caller = new AbortController();
      const other = assistant.streamObject('Ada', { schema: Person, signal: caller.signal });
      caller.abort();
      expect(await failure(other.value)).to.have.property('code', 'aborted');
    });
  });

  describe('batch', () => {
    it('answers every input in order, with at most so many at once', async () => {
      let running = 0;
      let most = 0;
      const step: ScriptedStep = async ({ input }) => {
        running += 1;
        most = Math.max(most, running);
        await new Promise((resolve) => setImmediate(resolve));
        running -= 1;
        return answer(JSON.stringify(input).includes('5') ? 'five' : 'other');
      };
      const { assistant } = scripted(Array.from({ length: 12 }, () => step));
      const progress: number[] = [];
      const entries = await assistant.batch(
        Array.from({ length: 12 }, (_, index) => `Number ${index}`),
        { concurrency: 3, onProgress: (done, total) => progress.push(done / total) },
      );
      expect(entries.map((entry) => entry.ok && entry.value)).to.deep.equal(
        Array.from({ length: 12 }, (_, index) => (index === 5 ? 'five' : 'other')),
      );
      expect(most).to.equal(3);
      expect(progress.at(-1)).to.equal(1);
    });

    it('returns values of a schema, and the errors of inputs that fail', async () => {
      const { assistant } = scripted([answer('{"n":1}'), new Error('broken'), answer('{"n":3}')]);
      const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] } as const;
      const entries = await assistant.batch(['1', '2', '3'], { schema, concurrency: 1 });
      expect(entries.map((entry) => (entry.ok ? entry.value.n : entry.error.code))).to.deep.equal([
        1,
        'vendor-error',
        3,
      ]);
      expect(entries[0]?.ok === true && entries[0].usage.total_tokens).to.equal(15);
    });

    it('returns an error for an input that is none', async () => {
      const { assistant } = scripted([answer('1')]);
      const entries = await assistant.batch(['1', 5 as unknown as string], { concurrency: 1 });
      expect(entries.map((entry) => entry.ok || entry.error.code)).to.deep.equal([true, 'invalid-request']);
    });

    it('aborts what runs and what has not started', async () => {
      const controller = new AbortController();
      const { assistant, provider } = scripted([
        (options) => {
          controller.abort();
          return untilAborted(options);
        },
      ]);
      const entries = await assistant.batch(['1', '2'], { concurrency: 1, signal: controller.signal });
      expect(entries.map((entry) => !entry.ok && entry.error.code)).to.deep.equal(['aborted', 'aborted']);
      expect(provider.calls).to.have.length(1);
    });

    it('rejects what would fail every input', async () => {
      const { assistant } = scripted([], { model: 'nobody/x' });
      expect(await failure(assistant.batch(['1']))).to.include({ code: 'model-not-found', path: 'model' });
      expect(await failure(assistant.batch('1' as never))).to.include({ code: 'invalid-request', path: 'inputs' });
      expect(await failure(scripted([]).assistant.batch([], { concurrency: 0 }))).to.include({ path: 'concurrency' });
    });
  });

  describe('conversation', () => {
    it('continues with what was said, and can be continued elsewhere', async () => {
      const { assistant, provider } = scripted([answer('Hello Ann.'), answer('Ann.'), answer('Still Ann.')]);
      const first = assistant.conversation();
      await first.generate('I am Ann.');
      await first.stream('Who am I?').result;
      const stored = JSON.parse(JSON.stringify(first.transcript)) as Item[];
      expect((await assistant.conversation(stored).generate('And now?')).text).to.equal('Still Ann.');
      const sent = JSON.stringify(provider.calls.at(-1)?.options.input);
      for (const text of ['I am Ann.', 'Hello Ann.', 'Who am I?', 'Ann.', 'And now?']) expect(sent).to.contain(text);
    });

    it('does not check again what it holds', async () => {
      const { assistant, provider } = scripted([answer('One.'), answer('Two.')]);
      const conversation = assistant.conversation();
      await conversation.generate('First');
      const { transcript } = conversation;
      expect(transcript.every((item) => Object.isFrozen(item))).to.equal(true);
      await conversation.generate('Second');
      expect(conversation.transcript.slice(0, 2)).to.have.ordered.members(transcript);
      expect(provider.calls.at(-1)?.options.input.slice(1, 2)).to.have.ordered.members(transcript.slice(1));
    });

    it('stays as it was when a run fails', async () => {
      const { assistant } = scripted([answer('Hello.'), new Error('broken'), answer('Again.')]);
      const conversation = assistant.conversation();
      await conversation.generate('Hi');
      await failure(conversation.generate('Fail'));
      await conversation.generate('Hi again');
      expect(JSON.stringify(conversation.transcript)).not.to.contain('Fail');
      expect(conversation.transcript).to.have.length(4);
    });

    it('refuses a second message while an answer is awaited', async () => {
      const { assistant } = scripted([untilAborted]);
      const conversation = assistant.conversation();
      const run = conversation.stream('Hi');
      expect(await failure(conversation.generate('Hi'))).to.have.property('code', 'conflict');
      await run.cancel();
    });
  });

  describe('models', () => {
    const providers = [
      { vendor: 'openai', apiKey: 'a' },
      { vendor: 'openai_compatible', id: 'local', baseURL: 'http://127.0.0.1:9', allowPrivateHosts: true },
    ] as const;

    it('lists the providers and names the variable of a vendor without a key', () => {
      const assistant = agent({ providers, model: 'anthropic/claude-sonnet-5-5' });
      expect(() => assistant.stream('Hi'))
        .to.throw('Set ANTHROPIC_API_KEY')
        .that.includes({ code: 'model-not-found', path: 'model' });
      expect(() => assistant.stream('Hi')).to.throw('openai, local');
    });

    it('names the variable of the requested vendor if no vendor has a key', () => {
      expect(() => resolveModelName('anthropic/claude-sonnet-5-5', [])).to.throw(
        'The model "anthropic/claude-sonnet-5-5" needs the provider "anthropic", which is not configured. Set ANTHROPIC_API_KEY.',
      );
    });

    it('suggests a provider for a model without one, and lists them for an unknown one', async () => {
      const assistant = agent({ providers });
      expect(() => assistant.stream('Hi', { model: 'gpt-5.4' })).to.throw('"openai/gpt-5.4"');
      expect(await failure(assistant.generate('Hi', { model: 'antropic/claude' })))
        .to.have.property('message')
        .that.contains('Unknown provider "antropic"');
    });

    it('are routed by a manager that is given as the provider', async () => {
      const [first, second] = [
        new ScriptedProvider([], { name: 'first' }),
        new ScriptedProvider([answer('2')], { name: 'second' }),
      ];
      const assistant = agent({ provider: new LLMManager({ providers: [first, second] }), model: 'second/x' });
      expect((await assistant.generate('Hi')).text).to.equal('2');
      expect(second.calls[0]?.options.model).to.equal('x');
    });
  });

  describe('on a host', () => {
    let simulator: Simulator;
    before(async () => {
      simulator = await startSimulator();
    });
    after(() => simulator.close());

    const moduleWith = (tools = new ToolRegistry()): ReturnType<typeof createAIModule> =>
      createAIModule(
        {
          providers: [{ vendor: 'openai', apiKey: 'a', baseURL: simulator.baseURL('openai'), allowPrivateHosts: true }],
        },
        { tools },
      );

    it('stores its runs under their user, with title and model', async () => {
      const module = moduleWith();
      simulator.enqueue({ text: 'Hello.' });
      const run = agent({ host: { module }, model: 'openai/gpt-5-mini', userId: 'ann' }).stream('Say hello');
      await run.result;
      const stored = await module.runs.load(run.executionId);
      expect(stored?.run).to.include({
        userId: 'ann',
        title: 'Say hello',
        providerId: 'openai',
        model: 'gpt-5-mini',
        source: 'job',
        state: 'completed',
      });
      await module.close();
    });

    it('registers its tools at once, for runs that the host recovers', async () => {
      const module = moduleWith();
      expect(agent({ host: module, tools: [add] })).to.be.an('object');
      expect(module.tools.get('add')).to.equal(add);
      await module.close();
    });

    it('needs a user', async () => {
      const module = moduleWith();
      expect(() => agent({ host: module }).stream('Hi'))
        .to.throw('"userId" is required')
        .with.property('path', 'userId');
      await module.close();
    });

    it('shares its tools with the host and with other agents', async () => {
      const module = moduleWith(new ToolRegistry().register(add));
      for (const tools of [[add], ['add'], [add]]) {
        simulator.enqueue({ calls: [{ name: 'add', arguments: { a: 1, b: 2 } }] }, { text: '3' });
        const { toolCalls } = await agent({ host: module, tools, userId: 'ann' }).generate('Add');
        expect(toolCalls[0]).to.include({ state: 'completed', result: '3' });
      }
      const other = tool({ name: 'add', execute: () => 0 });
      expect(() => agent({ host: module, tools: [other], userId: 'ann' }))
        .to.throw('another tool named "add"')
        .with.property('path', 'tools[0].name');
      await module.close();
    });
  });

  describe('refuses', () => {
    const invalid: readonly (readonly [what: string, options: unknown, path: string, message: RegExp])[] = [
      ['no options', undefined, '', /must be an object/],
      ['an unknown option', { instruction: 'x' }, 'instruction', /Unknown field "instruction".*instructions/],
      ['a model that is no string', { model: 5 }, 'model', /provider\/model/],
      ['a model with spaces', { model: 'open ai/x' }, 'model', /provider\/model/],
      ['instructions that are no string', { instructions: ['x'] }, 'instructions', /string/],
      ['tools that are no list', { tools: add }, 'tools', /list/],
      ['a tool that is no object', { tools: [5] }, 'tools[0]', /object/],
      ['a tool that is a function', { tools: [() => 1] }, 'tools[0]', /object/],
      ['two tools of one name', { tools: [add, add] }, 'tools[1].name', /Two tools are named "add"/],
      ['a tool without a function', { tools: [{ name: 'x' }] }, 'tools[0].execute', /required/],
      ['a function that is none', { tools: [{ name: 'x', execute: 'x' }] }, 'tools[0].execute', /function/],
      ['an unknown field of a tool', { tools: [{ name: 'x', exeute: 1 }] }, 'tools[0].exeute', /Unknown field/],
      ['a temperature out of range', { temperature: 3 }, 'temperature', /from 0 to 2/],
      ['an output limit of nothing', { maxOutputTokens: 0 }, 'maxOutputTokens', /integer/],
      ['a fraction of iterations', { maxIterations: 1.5 }, 'maxIterations', /integer/],
      ['an unknown limit of the budget', { budget: { euros: 1 } }, 'budget.euros', /Unknown field/],
      ['a negative budget', { budget: { money: -1 } }, 'budget.money', /number/],
      ['an unknown onPending', { onPending: 'later' }, 'onPending', /wait, return/],
      ['a provider that is none', { provider: {} }, 'provider', /createProvider/],
      ['providers that are no list', { providers: {} }, 'providers', /list/],
      ['a host that is none', { host: {} }, 'host', /module/],
      [
        'two sources of models',
        { provider: new ScriptedProvider(), providers: [] },
        'providers',
        /combined with "provider"/,
      ],
      ['a logger that is none', { logger: {} }, 'logger', /methods/],
      ['options of a call', { signal: new AbortController().signal }, 'signal', /Unknown field/],
    ];
    for (const [what, options, path, message] of invalid)
      it(what, () => {
        expect(() => agent(options as AgentOptions))
          .to.throw(message)
          .that.includes({ name: 'LLMInvalidRequestError', code: 'invalid-request', path });
      });

    const calls: readonly (readonly [what: string, call: (assistant: Agent) => unknown, path: string])[] = [
      ['an unknown option of a call', (a) => a.stream('Hi', { maxIteration: 1 } as never), 'maxIteration'],
      ['tools of a call', (a) => a.stream('Hi', { tools: [] } as never), 'tools'],
      ['a signal that is none', (a) => a.stream('Hi', { signal: {} as never }), 'signal'],
      ['a user id with spaces', (a) => a.stream('Hi', { userId: 'a b' }), 'userId'],
      ['an input of the wrong type', (a) => a.stream(5 as never), 'input'],
      ['a message with an unknown role', (a) => a.stream([{ role: 'boss', content: '' } as never]), 'input[0].role'],
      ['a missing schema', (a) => a.generateObject('Hi', {} as never), 'schema'],
      ['a schema that is none', (a) => a.generateObject('Hi', { schema: 5 as never }), 'schema'],
      ['an invalid schema', (a) => a.generateObject('Hi', { schema: { type: 'objekt' } as never }), 'schema'],
      ['an invalid schema of a batch', (a) => a.batch([], { schema: { type: 'objekt' } as never }), 'schema'],
      ['an unknown option of a batch', (a) => a.batch([], { concurency: 2 } as never), 'concurency'],
    ];
    for (const [what, call, path] of calls)
      it(what, async () => {
        const { assistant, provider } = scripted([]);
        const error = await failure((async () => call(assistant))());
        expect(error).to.include({ name: 'LLMInvalidRequestError', path });
        expect(provider.calls).to.deep.equal([]);
      });
  });
});
