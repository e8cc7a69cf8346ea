/** The manager's API: text, typed values, tools. */
import { expect } from 'chai';
import { z } from 'zod';
import { LLMManager } from '../../../../../imports/business/ai/application/services/LLMManager';
import {
  LLMContentFilterError,
  LLMIncompleteError,
  LLMInvalidRequestError,
  LLMOverloadedError,
  LLMRefusalError,
} from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { IToolExecutor } from '../../../../../imports/business/ai/domain/interfaces/IToolExecutor';
import type { FunctionTool } from '../../../../../imports/business/ai/domain/entities/Tool';
import { ScriptedProvider } from '../../../../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../../../../imports/testing/ScriptedProvider';
import { servedResponse } from '../../../../support/servedResponse';
import {
  answer,
  calling,
  incomplete,
  refusing,
  response,
  textItem,
  usage,
} from '../../../../../imports/testing/responses';

const ADD: FunctionTool = {
  type: 'function',
  name: 'add',
  parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } }, required: ['a', 'b'] },
};

function calculator(): IToolExecutor & { readonly ran: unknown[] } {
  const ran: unknown[] = [];
  return {
    ran,
    execute(_name, args) {
      ran.push(args);
      const { a, b } = args as { a: number; b: number };
      return a + b;
    },
    hasToolFunction: (name) => name === 'add',
    getToolDefinition: (name) => (name === 'add' ? ADD : undefined),
  };
}

function manage(
  script: readonly ScriptedStep[],
  toolExecutor?: IToolExecutor,
): { manager: LLMManager; upstream: ScriptedProvider } {
  const upstream = new ScriptedProvider(script);
  return {
    upstream,
    manager: new LLMManager({
      provider: upstream,
      sleep: async () => undefined,
      ...(toolExecutor === undefined ? {} : { toolExecutor }),
    }),
  };
}

async function thrownBy(work: Promise<unknown>): Promise<unknown> {
  try {
    await work;
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

describe('generateText', () => {
  it('returns the text, and passes on user, input and options', async () => {
    const { manager, upstream } = manage([answer('Hello')]);
    expect(
      await manager.generateText('ann', 'Hi', { model: 'm', instructions: 'Be kind.', max_output_tokens: 9 }),
    ).to.equal('Hello');
    const { userId, options, kind } = upstream.calls[0]!;
    expect([userId, kind]).to.deep.equal(['ann', 'generate']);
    expect(options).to.deep.equal({
      model: 'm',
      instructions: 'Be kind.',
      max_output_tokens: 9,
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
    });
  });

  it('needs no options', async () =>
    expect(await manage([answer('ok')]).manager.generateText('u', [{ role: 'user', content: 'x' }])).to.equal('ok'));

  it('returns an empty text for an empty response', async () =>
    expect(await manage([response()]).manager.generateText('u', 'x')).to.equal(''));

  it('retries', async () => {
    const { manager, upstream } = manage([new LLMOverloadedError('busy'), answer('ok')]);
    expect(await manager.generateText('u', 'x')).to.equal('ok');
    upstream.assertPlayedOut();
  });

  const NONE = [
    ['refused', refusing('I won’t.'), LLMRefusalError],
    ['filtered', incomplete('content_filter', 'half'), LLMContentFilterError],
    ['cut off', incomplete('max_output_tokens', 'half'), LLMIncompleteError],
    ['only asks for tools', calling({ name: 'add' }), LLMIncompleteError],
  ] as const;
  for (const [title, none, kind] of NONE) {
    it(`throws for an answer that is ${title}, in one attempt, with the response`, async () => {
      const { manager, upstream } = manage([none]);
      const error = await thrownBy(manager.generateText('u', 'x'));
      expect(error)
        .to.be.instanceOf(kind)
        .and.deep.include({ response: servedResponse(none) });
      upstream.assertPlayedOut();
    });
  }

  it('states why a response is incomplete', async () => {
    expect(await thrownBy(manage([incomplete('max_output_tokens')]).manager.generateText('u', 'x'))).to.have.property(
      'reason',
      'max_output_tokens',
    );
  });

  it('rejects hostile input before any call', async () => {
    const { manager, upstream } = manage([]);
    expect(await thrownBy(manager.generateText('u', { role: 'user' } as never))).to.be.instanceOf(
      LLMInvalidRequestError,
    );
    upstream.assertPlayedOut();
  });

  it('continues a paused turn and returns its entire text', async () => {
    const paused = (text: string): ReturnType<typeof answer> =>
      answer(text, { vendor: { ...response().vendor, finish_reason: 'pause_turn' } });
    const first = paused('Searching. ');
    const { manager, upstream } = manage([first, answer('Found.')]);
    expect(await manager.generateText('u', 'x')).to.equal('Searching. Found.');
    upstream.assertPlayedOut();
    expect(upstream.calls[1]?.options.input).to.have.length(2).and.deep.include(first.output[0]);
    const endless = manage(Array.from({ length: 10 }, () => paused('.')));
    expect(await thrownBy(endless.manager.generateText('u', 'x'))).to.have.property('reason', 'pause_turn');
    endless.upstream.assertPlayedOut();
  });
});

describe('generateWithTools', () => {
  it('runs tools named by their definition in the executor, and sums the usage of all calls', async () => {
    const executor = calculator();
    const { manager, upstream } = manage(
      [calling({ name: 'add', arguments: { a: 2, b: 3 } }), answer('5', { usage: usage(7, 1) })],
      executor,
    );
    const response = await manager.generateWithTools('ann', 'What is 2 + 3?', ['add'], { model: 'm' });
    expect(response.output_text).to.equal('5');
    expect(response.usage).to.deep.equal(usage(17, 6));
    expect(executor.ran).to.deep.equal([{ a: 2, b: 3 }]);
    expect(upstream.calls[0]?.options.tools?.map((tool) => 'name' in tool && tool.name)).to.deep.equal(['add']);
    expect(JSON.stringify(upstream.calls[1]?.options.input)).to.contain('"function_call_output"').and.contain('"5"');
    upstream.assertPlayedOut();
  });

  it('accepts definitions, and uses the default model if none is named', async () => {
    const executor = calculator();
    const { manager, upstream } = manage([calling({ name: 'add', arguments: { a: 1, b: 1 } }), answer('2')], executor);
    expect((await manager.generateWithTools('u', 'x', [ADD])).output_text).to.equal('2');
    expect(upstream.calls.map(({ options }) => options.model)).to.deep.equal([undefined, undefined]);
    upstream.assertPlayedOut();
  });

  it('retries its calls by the same policy', async () => {
    const { manager, upstream } = manage(
      [
        new LLMOverloadedError('busy'),
        calling({ name: 'add', arguments: { a: 1, b: 1 } }),
        new LLMOverloadedError('busy'),
        answer('2'),
      ],
      calculator(),
    );
    expect((await manager.generateWithTools('u', 'x', ['add'])).output_text).to.equal('2');
    upstream.assertPlayedOut();
  });

  it('throws the typed error for the final response', async () => {
    const { manager } = manage([refusing('no')], calculator());
    expect(await thrownBy(manager.generateWithTools('u', 'x', ['add']))).to.be.instanceOf(LLMRefusalError);
  });

  it('needs an executor, and tools that the executor has', async () => {
    expect(await thrownBy(manage([]).manager.generateWithTools('u', 'x', ['add']))).to.be.instanceOf(
      LLMInvalidRequestError,
    );
    expect(await thrownBy(manage([], calculator()).manager.generateWithTools('u', 'x', ['subtract']))).to.be.instanceOf(
      LLMInvalidRequestError,
    );
  });

  it('keeps concurrent runs apart', async () => {
    const { manager } = manage([answer('1'), answer('2'), answer('3')], calculator());
    const texts = await Promise.all(
      ['a', 'b', 'c'].map(async (user) => (await manager.generateWithTools(user, 'x', ['add'])).output_text),
    );
    expect(texts.sort()).to.deep.equal(['1', '2', '3']);
  });
});

describe('generateJSON with tools', () => {
  it('runs the tools first, and sends the entire conversation for a correction', async () => {
    const executor = calculator();
    const { manager, upstream } = manage(
      [calling({ name: 'add', arguments: { a: 2, b: 3 } }), answer('five'), answer('{"sum":5}')],
      executor,
    );
    const { sum } = await manager.generateJSON('u', 'What is 2 + 3?', z.object({ sum: z.number() }), {
      tools: [ADD],
      model: 'm',
    });
    expect(sum).to.equal(5);
    upstream.assertPlayedOut();
    expect(upstream.calls.every(({ options }) => options.response_format?.type === 'json_schema')).to.equal(true);
    const last = upstream.calls[2]?.options.input as readonly { readonly type: string }[];
    expect(last.map(({ type }) => type)).to.deep.equal([
      'message',
      'function_call',
      'function_call_output',
      'message',
      'message',
    ]);
  });

  it('needs no executor for tools that the vendor runs', async () => {
    const { manager, upstream } = manage([
      response({ output: [{ type: 'web_search_call', id: 'ws' }, textItem('{"a":1}')] }),
    ]);
    expect(await manager.generateJSON('u', 'x', { type: 'object' }, { tools: [{ type: 'web_search' }] })).to.deep.equal(
      { a: 1 },
    );
    upstream.assertPlayedOut();
  });
});

describe('the manager', () => {
  it('is a provider itself and returns incomplete responses of generate', async () => {
    const cut = incomplete('max_output_tokens', 'half');
    const { manager } = manage([cut]);
    expect(await manager.generate('u', { input: 'x' })).to.deep.equal(servedResponse(cut));
    expect(manager.getProviderName()).to.equal('scripted');
  });

  it('leaves no listener on a signal that outlives many calls', async () => {
    const { manager } = manage(Array.from({ length: 20 }, () => answer('ok')));
    const controller = new AbortController();
    let listeners = 0;
    const { signal } = controller;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners += 1;
      add(...args);
    };
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners -= 1;
      remove(...args);
    };
    for (let call = 0; call < 20; call += 1) await manager.generateText('u', 'x', { signal });
    expect(listeners).to.equal(0);
  });
});
