/** Each rule of the generateContent wire: a body that breaks it, and its twin that doesn't. */
import { expect } from 'chai';
import { asObject, objectsIn } from '../../../imports/simulator/json';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { ADDRESS, post, verdictOn } from './post';
import type { RefusalCase } from './post';

const GEMINI_3 = '/google/v1beta/models/gemini-3-pro-preview:generateContent';
const user = (...parts: object[]): object => ({ role: 'user', parts });
const model = (...parts: object[]): object => ({ role: 'model', parts });
const text = (words: string): object => ({ text: words });
const call = (name: string, id?: string): object => ({
  functionCall: { name, args: {}, ...(id === undefined ? {} : { id }) },
});
const response = (name: string, id?: string): object => ({
  functionResponse: { name, response: { output: 'ok' }, ...(id === undefined ? {} : { id }) },
});
const body = (contents: unknown, more: object = {}): object => ({ contents, ...more });
const hello = user(text('Hello.'));
const declaring = (name: string, generationConfig?: object): object =>
  body([hello], {
    tools: [{ functionDeclarations: [{ name, description: 'x' }] }],
    ...(generationConfig === undefined ? {} : { generationConfig }),
  });

const CASES: readonly RefusalCase[] = [
  {
    rule: 'an unknown field',
    refused: body([hello], { frobnicate: 1 }),
    accepted: body([hello]),
    message: 'Invalid JSON payload received. Unknown name "frobnicate": Cannot find field.',
  },
  {
    rule: 'an unknown field further down',
    refused: body([{ ...hello, mood: 'good' }]),
    accepted: body([hello]),
    message: 'Invalid JSON payload received. Unknown name "mood" at \'contents[0]\': Cannot find field.',
  },
  {
    rule: 'no contents',
    refused: body([]),
    accepted: body([hello]),
    message: '* GenerateContentRequest.contents: contents is not specified\n',
  },
  {
    rule: 'a role that it lacks',
    refused: body([{ role: 'assistant', parts: [text('x')] }]),
    accepted: body([{ parts: [text('x')] }]),
    message: 'Please use a valid role: user, model.',
  },
  {
    rule: 'contents without parts',
    refused: body([hello, { role: 'model', parts: [] }, hello]),
    accepted: body([hello, model(text('x')), hello]),
    message: /contents\[1\]\.parts: contents\.parts must not be empty/,
  },
  {
    rule: 'a call turn that opens',
    refused: body([model(call('a')), user(response('a'))]),
    accepted: body([hello, model(call('a')), user(response('a'))]),
    message: /function call turn comes immediately after a user turn/,
  },
  {
    rule: 'a call turn after a model turn',
    refused: body([hello, model(text('x')), model(call('a')), user(response('a'))]),
    accepted: body([hello, model(text('x'), call('a')), user(response('a'))]),
    message: /function call turn comes immediately after a user turn/,
  },
  {
    rule: 'a response turn without calls',
    refused: body([hello, model(text('x')), user(response('a'))]),
    accepted: body([hello, model(call('a')), user(response('a'))]),
    message: /function response turn comes immediately after a function call turn/,
  },
  {
    rule: 'an unanswered call',
    refused: body([hello, model(call('a')), hello]),
    accepted: body([hello, model(call('a')), user(response('a')), hello]),
    message: /number of function response parts is equal/,
  },
  {
    rule: 'one of two answers missing',
    refused: body([hello, model(call('a'), call('b')), user(response('a'))]),
    accepted: body([hello, model(call('a'), call('b')), user(response('b'), response('a'))]),
    message: /number of function response parts is equal/,
  },
  {
    rule: 'a response under another name',
    refused: body([hello, model(call('a')), user(response('b'))]),
    accepted: body([hello, model(call('a')), user(response('a'))]),
    message: 'Request contains an invalid argument.',
  },
  {
    rule: 'a response under another id',
    refused: body([hello, model(call('a', '1')), user(response('a', '2'))]),
    accepted: body([hello, model(call('a', '1')), user(response('a', '1'))]),
    message: 'Request contains an invalid argument.',
  },
  {
    rule: 'a response without a name',
    refused: body([hello, model(call('a')), user(response(''))]),
    accepted: body([hello, model(call('a')), user(response('a'))]),
    message: /function_response\.name: Name cannot be empty/,
  },
  {
    rule: 'a function name with a space',
    refused: declaring('get weather'),
    accepted: declaring('get.weather:now'),
    message: /function_declarations\[0\]\.name: Invalid function name/,
  },
  {
    rule: 'functions with JSON before Gemini 3',
    refused: declaring('a', { responseMimeType: 'application/json' }),
    accepted: declaring('a', { responseMimeType: 'text/plain' }),
    message: /application\/json' is unsupported/,
  },
  {
    rule: 'a call without its signature from Gemini 3 on',
    path: GEMINI_3,
    refused: body([hello, model(call('a')), user(response('a'))]),
    accepted: body([
      hello,
      model({ ...call('a'), thoughtSignature: 'skip_thought_signature_validator' }),
      user(response('a')),
    ]),
    message: /missing a thought_signature in functionCall parts.*`default_api:a` , position 2/,
  },
  {
    rule: 'a signature that it did not give',
    refused: body([hello, model({ ...call('a'), thoughtSignature: 'Zm9yZWlnbg==' }), user(response('a'))]),
    accepted: body([hello, model(call('a')), user(response('a'))]),
    message: 'Corrupted thought signature.',
  },
];

describe('the simulated generateContent wire refuses', () => {
  let simulator: Simulator;

  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.close());

  for (const { rule, refused, accepted, message, path = ADDRESS.gemini } of CASES) {
    it(rule, async () => {
      const verdict = await verdictOn(simulator, path, refused);
      expect(verdict).to.deep.include({ status: 400 });
      if (typeof message === 'string') expect(verdict.message).to.equal(message);
      else expect(verdict.message).to.match(message);
      expect(verdict.body).to.have.nested.property('error.status', 'INVALID_ARGUMENT');
      expect(await verdictOn(simulator, path, accepted)).to.deep.include({ status: 200, message: '' });
    });
  }

  it('a call whose arguments were edited under their signature', async () => {
    simulator.enqueue({ calls: [{ name: 'a', arguments: { x: 1 } }] });
    const answer = await post(simulator, GEMINI_3, body([hello]));
    const [candidate] = objectsIn(asObject(await answer.json()).candidates);
    const [part] = objectsIn(asObject(candidate?.content).parts);
    const signed = (args: object): object =>
      body([hello, model({ ...part, functionCall: { name: 'a', args } }), user(response('a'))]);
    expect(await verdictOn(simulator, GEMINI_3, signed({ x: 1 }))).to.deep.include({ status: 200 });
    expect(await verdictOn(simulator, GEMINI_3, signed({ x: 2 }))).to.deep.include({
      status: 400,
      message: 'Corrupted thought signature.',
    });
  });

  it('nothing of an earlier turn whose signature was lost', async () => {
    const contents = [hello, model(call('a')), user(response('a')), model(text('Done.')), user(text('Thanks.'))];
    expect(await verdictOn(simulator, GEMINI_3, body(contents))).to.deep.include({ status: 200 });
  });

  it('in plain JSON labelled as a stream when a stream was asked for', async () => {
    const answer = await post(
      simulator,
      ADDRESS.gemini.replace(':generateContent', ':streamGenerateContent?alt=sse'),
      body([]),
    );
    expect(answer.status).to.equal(400);
    expect(answer.headers.get('content-type')).to.equal('text/event-stream');
    expect(asObject(await answer.json())).to.have.property('error');
  });

  it('snake case no more than camel case', async () => {
    const refused = body([
      hello,
      { role: 'model', parts: [{ function_call: { name: 'a' } }] },
      { parts: [{ function_response: { name: 'b', response: {} } }] },
    ]);
    expect((await verdictOn(simulator, ADDRESS.gemini, refused)).message).to.equal(
      'Request contains an invalid argument.',
    );
  });
});
