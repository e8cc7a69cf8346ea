/** The options of a request: which are accepted, and the path of each invalid one. */
import { expect } from 'chai';
import {
  normalizeInput,
  normalizeOptions,
  normalizeTools,
  withModel,
  withOwnOptions,
} from '../../../../../imports/business/ai/application/services/ContentNormalizer';
import { LLMInvalidRequestError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { GenerateOptions, NormalizedOptions } from '../../../../../imports/business/ai/domain/types/LLMTypes';

const TOOLS = [{ type: 'function', function: { name: 'f' } }, { type: 'web_search' }, { type: 'custom', name: 'grep' }];

describe('normalizeOptions', () => {
  it('requires a model and an input, and adds nothing', () => {
    expect(normalizeOptions({ model: 'gpt-5', input: 'x' })).to.deep.equal({
      model: 'gpt-5',
      input: normalizeInput('x'),
    });
  });

  it('accepts every option', () => {
    const { signal } = new AbortController();
    const allOptions: Required<GenerateOptions> = {
      model: 'meta-llama/llama-4-scout:free',
      providerId: 'groq',
      input: 'x',
      instructions: 'be brief',
      tools: [{ type: 'function', function: { name: 'f' } }],
      tool_choice: { type: 'function', name: 'f' },
      temperature: 2,
      maxRetryTime: 1,
      streamArguments: true,
      prompt: { name: 'support', label: 'production', version: 2, variables: { tone: 'dry' }, shared: true },
      unsupportedTools: 'drop',
      top_p: 0,
      top_k: 40,
      seed: -7,
      presence_penalty: -2,
      frequency_penalty: 2,
      max_output_tokens: 1,
      response_format: {
        type: 'json_schema',
        name: 'city',
        description: 'd',
        schema: { type: 'object' },
        strict: true,
      },
      parallel_tool_calls: false,
      previous_response_id: 'resp_1',
      store: true,
      reasoning: { effort: 'high', summary: null },
      stop: 'END',
      metadata: { run: '1' },
      user: 'bob',
      signal,
      timeout: 60_000,
      vendor: { anthropic: { thinking: { type: 'adaptive' } } },
      wire: 'chat_completions',
      executionId: 'run-1',
      turn: { executionId: 'run-1', iteration: 2 },
      relay: true,
      relayTo: { isOpen: false, characters: 0, write: () => undefined },
      route: { name: 'fast', targets: ['groq', 'openai/gpt-5'], timeout: 1 },
      routeTargets: ['groq'],
      onSend: () => Promise.resolve(),
      background: true,
      conversation: 'conv_1',
      backgroundTurn: {
        find: () => Promise.resolve(undefined),
        save: () => Promise.resolve(),
        remove: () => Promise.resolve(),
      },
      batch: { isSubmitted: false, isCounted: false, exchange: () => Promise.reject(new Error('unused')) },
      onAttempt: () => undefined,
      onHead: () => undefined,
      onRetry: () => undefined,
      onExchange: () => undefined,
      onBody: () => undefined,
      cache: { ttl: 60_000, refresh: true },
      promptCache: { breakpoints: [0], key: 'k', ttl: '1h' },
      onCache: () => undefined,
      onRateLimits: () => undefined,
      onAnnotation: () => undefined,
      compact: true,
      hostedMcp: new Map(),
      findableTools: { searchTool: 'search_tools', tools: [] },
      compactedBy: { providerId: 'p', vendor: 'openai', wire: 'responses' },
      origin: { source: 'manager' },
    };
    const expected: Required<NormalizedOptions> = {
      ...allOptions,
      model: allOptions.model,
      input: normalizeInput('x'),
      tools: normalizeTools(allOptions.tools),
      stop: ['END'],
    };
    const normalized = normalizeOptions(allOptions);
    expect(normalized).to.deep.equal(expected);
    expect(normalized.signal).to.equal(signal);
  });

  it('omits undefined options and empty lists', () => {
    const normalized = normalizeOptions({
      model: 'm',
      input: [],
      tools: [],
      stop: [],
      temperature: undefined,
      signal: undefined,
    });
    expect(normalized).to.deep.equal({ model: 'm', input: [] });
    expect(Object.keys(normalized)).to.have.members(['model', 'input']);
  });

  it('caches its results, and their input and tools', () => {
    const normalized = normalizeOptions({ model: 'm', input: ['a', 'b'], tools: TOOLS });
    expect(normalizeOptions(normalized)).to.equal(normalized);
    const changed = normalizeOptions({ ...normalized, model: 'n' });
    expect(changed.input).to.equal(normalized.input);
    expect(changed.tools).to.equal(normalized.tools);
    expect(() => Object.assign(normalized, { model: 'n' })).to.throw(TypeError);
  });

  const ACCEPTED: readonly (readonly [title: string, given: object, gives: object])[] = [
    ['a tool choice by mode', { tool_choice: 'required' }, { tool_choice: 'required' }],
    [
      'a nested tool choice of Chat Completions',
      { tool_choice: { type: 'function', function: { name: 'f' } } },
      { tool_choice: { type: 'function', name: 'f' } },
    ],
    ['a choice of a built-in tool', { tool_choice: { type: 'web_search' } }, { tool_choice: { type: 'web_search' } }],
    [
      'a choice of a custom tool',
      { tool_choice: { type: 'custom', name: 'grep' } },
      { tool_choice: { type: 'custom', name: 'grep' } },
    ],
    [
      'allowed tools',
      {
        tool_choice: {
          type: 'allowed_tools',
          mode: 'required',
          tools: [{ type: 'function', name: 'f' }, { type: 'web_search' }],
        },
      },
      {
        tool_choice: {
          type: 'allowed_tools',
          mode: 'required',
          tools: [{ type: 'function', name: 'f' }, { type: 'web_search' }],
        },
      },
    ],
    ['several stop sequences', { stop: ['a', 'b'] }, { stop: ['a', 'b'] }],
    ['a text format', { response_format: { type: 'text' } }, { response_format: { type: 'text' } }],
    ['a JSON format', { response_format: { type: 'json_object' } }, { response_format: { type: 'json_object' } }],
    [
      'a nested schema of Chat Completions',
      { response_format: { type: 'json_schema', json_schema: { name: 'n', schema: {}, strict: null } } },
      { response_format: { type: 'json_schema', name: 'n', schema: {}, strict: null } },
    ],
    ['an unknown effort', { reasoning: { effort: 'ultra' } }, { reasoning: { effort: 'ultra' } }],
  ];
  for (const [title, given, gives] of ACCEPTED) {
    it(`accepts ${title}`, () => {
      const { model, input, tools, ...rest } = normalizeOptions({ model: 'm', input: 'x', tools: TOOLS, ...given });
      expect(rest).to.deep.equal(gives);
      expect([model, input.length, tools?.length]).to.deep.equal(['m', 1, 3]);
    });
  }

  const REJECTED: readonly (readonly [title: string, given: unknown, path: string, message: RegExp])[] = [
    ['no options', undefined, 'options', /must be an object, not undefined/],
    ['options in an array', [], 'options', /must be an object, not an array/],
    ['a missing model', { model: undefined }, 'model', /is required/],
    ['an empty model', { model: '' }, 'model', /1 to 256 characters/],
    ['a model with a line break', { model: 'gpt\n5' }, 'model', /without spaces and control characters/],
    ['a missing input', { input: undefined }, 'input', /must be a string or an array/],
    [
      'an invalid item',
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: 5 }] }] },
      'input[0].content[0].image_url',
      /must be a string with an http/,
    ],
    ['instructions in parts', { instructions: ['x'] }, 'instructions', /must be a string, not an array/],
    ['a turn without a run', { turn: { iteration: 1 } }, 'turn.executionId', /is required/],
    ['a turn before the first', { turn: { executionId: 'r', iteration: 0 } }, 'turn.iteration', /positive integer/],
    ['an unknown option', { max_tokens: 5 }, 'options.max_tokens', /is not an option\. .* max_output_tokens/],
    ['an option that every object inherits', { toString: 5 }, 'options.toString', /is not an option/],
    ['an option with a very long name', { ['x'.repeat(100_000)]: 1 }, `options["${'x'.repeat(64)}"]`, /^.{64,800}$/],
    ['a reserved option', JSON.parse('{"model":"m","__proto__":{"model":"x"}}'), 'options.__proto__', /reserved key/],
    ['null for an option', { temperature: null }, 'temperature', /must be a number from 0 to 2/],
    ['a temperature below 0', { temperature: -0.1 }, 'temperature', /from 0 to 2/],
    ['a temperature above 2', { temperature: 2.1 }, 'temperature', /from 0 to 2/],
    ['a temperature that is not a number', { temperature: NaN }, 'temperature', /must be a finite number/],
    ['a temperature in a string', { temperature: '1' }, 'temperature', /from 0 to 2/],
    ['top_p above 1', { top_p: 1.01 }, 'top_p', /from 0 to 1/],
    ['top_k of 0', { top_k: 0 }, 'top_k', /positive integer/],
    ['half a seed', { seed: 1.5 }, 'seed', /must be an integer/],
    ['a penalty above 2', { presence_penalty: 2.1 }, 'presence_penalty', /from -2 to 2/],
    ['a penalty below -2', { frequency_penalty: -3 }, 'frequency_penalty', /from -2 to 2/],
    ['zero output tokens', { max_output_tokens: 0 }, 'max_output_tokens', /positive integer of tokens/],
    ['half an output token', { max_output_tokens: 1.5 }, 'max_output_tokens', /positive integer of tokens/],
    ['a flag in a string', { store: 'true' }, 'store', /true or false, not a string/],
    ['a number for parallel_tool_calls', { parallel_tool_calls: 1 }, 'parallel_tool_calls', /true or false/],
    ['an empty previous response', { previous_response_id: '' }, 'previous_response_id', /must not be empty/],
    ['reasoning in a string', { reasoning: 'high' }, 'reasoning', /must be an object/],
    ['a numeric effort', { reasoning: { effort: 3 } }, 'reasoning.effort', /must be a string/],
    ['an empty effort', { reasoning: { effort: '' } }, 'reasoning.effort', /must not be empty/],
    ['an empty stop sequence', { stop: ['a', ''] }, 'stop[1]', /must not be empty/],
    ['a stop sequence that is not a string', { stop: [1] }, 'stop[0]', /must be a string/],
    ['metadata that is not a string', { metadata: { a: 1 } }, 'metadata.a', /must be a string, not a number/],
    ['a user that is not a string', { user: 5 }, 'user', /must be a string/],
    ['a listener that is not a function', { onHead: 'me' }, 'onHead', /must be a function, not a string/],
    [
      'an object that resembles a signal',
      { signal: { aborted: false, addEventListener: () => undefined } },
      'signal',
      /must be an AbortSignal, not an object/,
    ],
    [
      'a proxy of a signal',
      {
        signal: new Proxy(
          {},
          {
            getPrototypeOf: () => {
              throw new Error('no');
            },
          },
        ),
      },
      'signal',
      /could not be read/,
    ],
    ['a timeout of 0', { timeout: 0 }, 'timeout', /above 0/],
    ['an infinite timeout', { timeout: Infinity }, 'timeout', /must be a finite number/],
    ['vendor fields that are not objects', { vendor: { openai: 'x' } }, 'vendor.openai', /must be an object/],
    ['invalid tools', { tools: [{}] }, 'tools[0].type', /must be "function"/],
    ['an unknown tool choice', { tool_choice: 'any' }, 'tool_choice', /"auto", "none", "required"/],
    ['a required choice without tools', { tool_choice: 'required', tools: [] }, 'tool_choice', /no tools are offered/],
    [
      'a choice of a tool that is not offered',
      { tools: TOOLS, tool_choice: { type: 'function', name: 'g' } },
      'tool_choice',
      /names a tool that is not offered\. Offered tools: f, web_search, grep/,
    ],
    [
      'a choice of a built-in tool that is not offered',
      { tools: TOOLS, tool_choice: { type: 'file_search' } },
      'tool_choice',
      /not offered/,
    ],
    [
      'a choice without a function name',
      { tools: TOOLS, tool_choice: { type: 'function' } },
      'tool_choice.name',
      /must name the function/,
    ],
    [
      'an allowed tool that is not offered',
      { tools: TOOLS, tool_choice: { type: 'allowed_tools', tools: [{ type: 'function', name: 'g' }] } },
      'tool_choice.tools[0]',
      /not offered/,
    ],
    [
      'an empty list of allowed tools',
      { tools: TOOLS, tool_choice: { type: 'allowed_tools', tools: [] } },
      'tool_choice.tools',
      /at least one/,
    ],
    [
      'an unknown mode',
      { tools: TOOLS, tool_choice: { type: 'allowed_tools', mode: 'any', tools: [{ type: 'web_search' }] } },
      'tool_choice.mode',
      /"auto" or "required"/,
    ],
    [
      'an unknown format',
      { response_format: { type: 'xml' } },
      'response_format.type',
      /text, json_object, json_schema/,
    ],
    [
      'a schema format without its schema',
      { response_format: { type: 'json_schema', name: 'n' } },
      'response_format.schema',
      /must be an object/,
    ],
    [
      'a schema with an invalid name',
      { response_format: { type: 'json_schema', name: 'a b', schema: {} } },
      'response_format.name',
      /letters, digits/,
    ],
    [
      'a nested schema without its schema',
      { response_format: { type: 'json_schema', json_schema: { name: 'n' } } },
      'response_format.json_schema.schema',
      /must be an object/,
    ],
  ];
  for (const [title, given, path, message] of REJECTED) {
    it(`rejects ${title}`, () => {
      const options =
        typeof given === 'object' && given !== null && !Array.isArray(given) && !Object.hasOwn(given, '__proto__')
          ? { model: 'm', input: 'x', ...given }
          : given;
      expect(() => normalizeOptions(options))
        .to.throw(LLMInvalidRequestError, message)
        .with.property('path', path);
    });
  }

  it('has a type that matches its checks', () => {
    const normalized: NormalizedOptions = normalizeOptions({ model: 'm', input: 'x' } satisfies GenerateOptions);
    expect(normalized.model).to.equal('m');
    // @ts-expect-error normalized options always have a model
    const withoutModel: NormalizedOptions = { input: [] };
    expect(() => normalizeOptions(withoutModel)).to.throw(/"model" is required/);
    // @ts-expect-error a bare string is not normalized input
    const bare: NormalizedOptions = { model: 'm', input: 'x' };
    expect(normalizeOptions(bare).input).to.have.length(1);
    // @ts-expect-error normalized stop sequences are a list
    const stop: NormalizedOptions = { model: 'm', input: [], stop: 'x' };
    expect(normalizeOptions(stop).stop).to.deep.equal(['x']);
  });
});

describe('withOwnOptions and withModel', () => {
  const signal = new AbortController().signal;

  it('leave normalized options normalized, and frozen', () => {
    const normalized = normalizeOptions({ model: 'p/m', input: 'hi', temperature: 1 });
    const changed = withModel(withOwnOptions(normalized, { signal }), 'm');
    expect(changed).to.deep.equal({ ...normalized, model: 'm', signal });
    expect(normalizeOptions(changed)).to.equal(changed);
    expect(changed).to.be.frozen;
    expect(normalized).to.include({ model: 'p/m' }).and.not.to.have.property('signal');
  });

  it('do not make options valid that nobody has checked', () => {
    const unchecked: GenerateOptions = { model: 'p/m', input: 'hi', temperature: 9 };
    for (const changed of [withOwnOptions(unchecked, { signal }), withModel(unchecked, 'm')])
      expect(() => normalizeOptions(changed)).to.throw(LLMInvalidRequestError, '"temperature"');
    const inherited = { ...normalizeOptions({ model: 'm', input: 'hi' }), temperature: 9 };
    expect(() => normalizeOptions(withOwnOptions(inherited, { signal }))).to.throw(LLMInvalidRequestError);
  });

  it('leave the name of a model to be checked that may be none', () => {
    const normalized = normalizeOptions({ model: 'p/m', input: 'hi' });
    for (const name of ['', 'a b', 'a\n'])
      expect(() => normalizeOptions(withModel(normalized, name))).to.throw(LLMInvalidRequestError, '"model"');
  });
});
