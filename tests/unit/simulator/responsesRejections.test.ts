/** Each rule of the Responses wire: a body that violates it, and a minimal variant that does not. */
import { expect } from 'chai';
import { asObject, asString, objectsIn } from '../../../imports/simulator/json';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { ADDRESS, post, verdictOn } from './post';
import type { RefusalCase } from './post';

const user = (content: string): object => ({ role: 'user', content });
const assistant = (content: string, id?: string): object => ({
  type: 'message',
  role: 'assistant',
  content: [{ type: 'output_text', text: content }],
  ...(id === undefined ? {} : { id }),
});
const call = (call_id: string, more: object = {}): object => ({
  type: 'function_call',
  call_id,
  name: 'search',
  arguments: '{}',
  ...more,
});
const output = (call_id: string): object => ({ type: 'function_call_output', call_id, output: 'ok' });
const reasoning = (more: object = {}): object => ({ type: 'reasoning', summary: [], ...more });
const body = (input: unknown, more: object = {}): object => ({ model: 'gpt-5-mini', input, store: false, ...more });
const hello = user('Hello.');
const closed = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };
const tool = (parameters: object, strict = true): object => ({ type: 'function', name: 'search', parameters, strict });
const format = (given: object): object => body('In json, please.', { text: { format: given } });

const CASES: readonly RefusalCase[] = [
  {
    rule: 'an unknown parameter',
    rejected: body('x', { frobnicate: 1 }),
    accepted: body('x'),
    message: "Unknown parameter: 'frobnicate'.",
  },
  {
    rule: 'an unknown role',
    rejected: body([{ role: 'tool', content: 'x' }]),
    accepted: body([{ role: 'developer', content: 'x' }]),
    message: /^Invalid value for 'input\[0\]\.role'/,
  },
  {
    rule: 'options of the cache that older models lack',
    rejected: body('x', { prompt_cache_options: { ttl: '30m' } }),
    accepted: { ...body('x', { prompt_cache_options: { ttl: '30m' } }), model: 'gpt-5.6-sol' },
    message: "Unsupported parameter: 'prompt_cache_options' is not supported with this model.",
  },
  {
    rule: 'an unknown previous response',
    rejected: body('x', { previous_response_id: 'resp_1' }),
    accepted: body('x'),
    message: "Previous response with id 'resp_1' not found.",
  },
  {
    rule: 'an unanswered call',
    rejected: body([hello, call('a')]),
    accepted: body([hello, call('a'), output('a')]),
    message: 'No tool output found for function call a.',
  },
  {
    rule: 'one of two results missing',
    rejected: body([hello, call('a'), call('b'), output('a')]),
    accepted: body([hello, call('a'), call('b'), output('b'), output('a')]),
    message: 'No tool output found for function call b.',
  },
  {
    rule: 'an output without a call',
    rejected: body([hello, output('a')]),
    accepted: body([hello, call('a'), output('a')]),
    message: 'No tool call found for function call output with call_id a.',
  },
  {
    rule: 'an output before its call',
    rejected: body([hello, output('a'), call('a')]),
    accepted: body([hello, call('a'), assistant('Wait.'), output('a')]),
    message: 'No tool call found for function call output with call_id a.',
  },
  {
    rule: 'a duplicate call id',
    rejected: body([hello, call('a'), output('a'), call('a'), output('a')]),
    accepted: body([hello, call('a'), output('a'), call('b'), output('b')]),
    message: "Duplicate 'call_id': a",
  },
  {
    rule: 'two outputs of one call',
    rejected: body([hello, call('a'), output('a'), output('a')]),
    accepted: body([hello, call('a', { async: true }), output('a'), output('a')]),
    message: "Duplicate 'call_id': a",
  },
  {
    rule: 'an unanswered call of a synchronous tool',
    rejected: body([hello, call('a')], { tools: [tool(closed)] }),
    accepted: body([hello, call('a')], { tools: [{ ...tool(closed), async: true }] }),
    message: 'No tool output found for function call a.',
  },
  {
    rule: 'a duplicate item id',
    rejected: body([hello, assistant('x', 'msg_1'), assistant('y', 'msg_1')]),
    accepted: body([hello, assistant('x', 'msg_1'), assistant('y', 'msg_2')]),
    message: 'Duplicate item found with id msg_1. Remove duplicate items from your input and try again.',
  },
  {
    rule: 'an item id with the prefix of another type',
    rejected: body([hello, call('a', { id: 'call_1' }), output('a')]),
    accepted: body([hello, call('a', { id: 'fc_1' }), output('a')]),
    message: "Invalid 'input[1].id': 'call_1'. Expected an ID that begins with 'fc'.",
  },
  {
    rule: 'a call id of 65 characters',
    rejected: body([hello, call('a'.repeat(65)), output('a'.repeat(65))]),
    accepted: body([hello, call('a'.repeat(64)), output('a'.repeat(64))]),
    message: /^Invalid value for 'input\[2\]\.call_id': breaks maxLength 64/,
  },
  {
    rule: 'reasoning at the end',
    rejected: body([hello, reasoning()]),
    accepted: body([hello, reasoning(), assistant('x')]),
    message: /of type 'reasoning' was provided without its required following item/,
  },
  {
    rule: 'reasoning before the user',
    rejected: body([hello, reasoning(), user('x')]),
    accepted: body([hello, reasoning(), call('a'), output('a')]),
    message: /without its required following item/,
  },
  {
    rule: 'an open schema in strict mode',
    rejected: body('x', { tools: [tool({ type: 'object', properties: {} })] }),
    accepted: body('x', { tools: [tool({ type: 'object', properties: {} }, false)] }),
    message:
      "Invalid schema for function 'search': In context=(), 'additionalProperties' is required to be supplied and to be false.",
  },
  {
    rule: 'an optional property in strict mode',
    rejected: body('x', { tools: [tool({ ...closed, required: [] })] }),
    accepted: body('x', { tools: [tool(closed)] }),
    message: /Missing 'a'/,
  },
  {
    rule: 'a nested open schema',
    rejected: body('x', { tools: [tool({ ...closed, properties: { a: { type: 'object', properties: {} } } })] }),
    accepted: body('x', { tools: [tool({ ...closed, properties: { a: closed } })] }),
    message: /In context=\('properties', 'a'\)/,
  },
  {
    rule: 'an output schema that is not an object',
    rejected: format({ type: 'json_schema', name: 'n', schema: { type: 'array', items: {} }, strict: true }),
    accepted: format({ type: 'json_schema', name: 'n', schema: closed, strict: true }),
    message: /Invalid schema for response_format 'n'.*type: \\?"object/,
  },
  {
    rule: 'a keyword that strict mode does not support',
    rejected: format({ type: 'json_schema', name: 'n', schema: { ...closed, not: {} }, strict: true }),
    accepted: format({ type: 'json_schema', name: 'n', schema: { ...closed, not: {} } }),
    message: /'not' is not permitted/,
  },
  {
    rule: 'a json_object format that no message mentions',
    rejected: body('x', { text: { format: { type: 'json_object' } } }),
    accepted: format({ type: 'json_object' }),
    message: /must contain the word 'json'/,
  },
  {
    rule: 'a temperature for a reasoning model',
    rejected: body('x', { temperature: 0.5 }),
    accepted: body('x', { temperature: 0.5, model: 'gpt-4.1' }),
    message: "Unsupported parameter: 'temperature' is not supported with this model.",
  },
  {
    rule: 'reasoning for a model without it',
    rejected: body('x', { reasoning: { effort: 'low' }, model: 'gpt-4.1' }),
    accepted: body('x', { reasoning: { effort: 'low' } }),
    message: "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
  },
  {
    rule: 'encrypted reasoning for a model without it',
    rejected: body('x', { include: ['reasoning.encrypted_content'], model: 'gpt-4.1' }),
    accepted: body('x', { include: ['reasoning.encrypted_content'] }),
    message: 'Encrypted content is not supported with this model.',
  },
];

describe('the simulated Responses wire rejects', () => {
  let simulator: Simulator;

  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.close());

  const verdict = (given: unknown, path: string = ADDRESS.responses): ReturnType<typeof verdictOn> =>
    verdictOn(simulator, path, given);
  const send = async (given: unknown, path: string = ADDRESS.responses): Promise<Record<string, unknown>> =>
    asObject(await (await post(simulator, path, given)).json());

  for (const { rule, rejected, accepted, message } of CASES) {
    it(rule, async () => {
      const outcome = await verdict(rejected);
      expect(outcome).to.deep.include({ status: 400 });
      if (typeof message === 'string') expect(outcome.message).to.equal(message);
      else expect(outcome.message).to.match(message);
      expect(outcome.body).to.have.nested.property('error.type', 'invalid_request_error');
      expect(await verdict(accepted)).to.deep.include({ status: 200, message: '' });
    });
  }

  it('no image for its size, but a URL that is none', async () => {
    const image = (url: string): object =>
      body([{ role: 'user', content: [{ type: 'input_image', image_url: url, detail: 'auto' }] }]);
    const accepted = await verdict(image(`data:image/png;base64,${'BwcH'.repeat(5_000_000)}`));
    expect(accepted).to.deep.include({ status: 200, message: '' });
    for (const url of ['no url', 'data:image/png;base64,Bw cH', 'data:image png;base64,BwcH', 'https://a.example/ä'])
      expect(await verdict(image(url)), url).to.deep.include({ status: 400 });
  });

  it('an unknown previous response, with a code and status 400', async () => {
    expect((await verdict(body('x', { previous_response_id: 'resp_1' }))).body).to.have.nested.property(
      'error.code',
      'previous_response_not_found',
    );
  });

  it('a chain with an unanswered call', async () => {
    simulator.enqueue({ calls: [{ name: 'search', id: 'call_1' }] });
    const { id } = await send({ model: 'gpt-5-mini', input: 'x' });
    expect((await verdict(body('Well?', { previous_response_id: id }))).message).to.equal(
      'No tool output found for function call call_1.',
    );
    expect(await verdict(body([output('call_1')], { previous_response_id: id }))).to.deep.include({ status: 200 });
  });

  describe('encrypted reasoning', () => {
    const request = {
      model: 'gpt-5-mini',
      input: 'x',
      store: false,
      reasoning: { effort: 'low' },
      include: ['reasoning.encrypted_content'],
    };
    const replay = (items: readonly object[], path: string = ADDRESS.responses): ReturnType<typeof verdictOn> =>
      verdict(body([user('x'), ...items, user('y')]), path);

    it('of another vendor', async () => {
      const [encrypted] = objectsIn((await send(request, '/xai/v1/responses')).output);
      const { id: _, status: __, ...foreign } = encrypted!;
      const outcome = await replay([foreign, assistant('x')]);
      expect(outcome.message).to.match(
        /^The encrypted content .* could not be verified\. Reason: Encrypted content could not be decrypted or parsed\.$/,
      );
      expect(outcome.body).to.have.nested.property('error.code', 'invalid_encrypted_content');
      expect(await replay([foreign, assistant('x')], '/xai/v1/responses')).to.deep.include({ status: 200 });
    });

    it('with the id of another item', async () => {
      const items = objectsIn((await send(request)).output);
      expect(await replay(items)).to.deep.include({ status: 200 });
      expect((await replay([{ ...items[0], id: 'rs_other' }, items[1]!])).message).to.match(
        /item_id did not match the target item id/,
      );
    });

    it('that was not sent, with an id that is not stored', async () => {
      const items = objectsIn((await send({ ...request, include: [] })).output);
      const outcome = await replay(items);
      expect(outcome).to.deep.include({ status: 404 });
      expect(outcome.message).to.match(/^Item with id 'rs_.*' not found\. Items are not persisted/);
      const stored = objectsIn((await send({ ...request, include: [], store: true })).output);
      expect(await replay(stored)).to.deep.include({ status: 200 });
    });

    it('without the stored item that followed it', async () => {
      const [thought, message] = objectsIn((await send({ ...request, store: true })).output);
      const outcome = await replay([message!]);
      expect(outcome.message).to.equal(
        `Item '${asString(message?.id)}' of type 'message' was provided without its required 'reasoning' item: '${asString(thought?.id)}'.`,
      );
      const { id: _, ...unnamed } = message!;
      expect(await replay([unnamed])).to.deep.include({ status: 200 });
    });
  });
});
