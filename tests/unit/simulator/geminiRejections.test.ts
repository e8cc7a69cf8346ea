/** Each rule of the generateContent wire: a body that violates it, and a minimal variant that does not. */
import { expect } from 'chai';
import { asObject, objectsIn } from '../../../imports/simulator/json';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { ADDRESS, post, verdictOn } from './post';
import type { RefusalCase } from './post';

const GEMINI_3 = '/google/v1beta/models/gemini-3-pro-preview:generateContent';
const user = (...parts: object[]): object => ({ role: 'user', parts });
const model = (...parts: object[]): object => ({ role: 'model', parts });
const text = (content: string): object => ({ text: content });
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
    rejected: body([hello], { frobnicate: 1 }),
    accepted: body([hello]),
    message: 'Invalid JSON payload received. Unknown name "frobnicate": Cannot find field.',
  },
  {
    rule: 'an unknown field further down',
    rejected: body([{ ...hello, mood: 'good' }]),
    accepted: body([hello]),
    message: 'Invalid JSON payload received. Unknown name "mood" at \'contents[0]\': Cannot find field.',
  },
  {
    rule: 'no contents',
    rejected: body([]),
    accepted: body([hello]),
    message: '* GenerateContentRequest.contents: contents is not specified\n',
  },
  {
    rule: 'an unknown role',
    rejected: body([{ role: 'assistant', parts: [text('x')] }]),
    accepted: body([{ parts: [text('x')] }]),
    message: 'Please use a valid role: user, model.',
  },
  {
    rule: 'contents without parts',
    rejected: body([hello, { role: 'model', parts: [] }, hello]),
    accepted: body([hello, model(text('x')), hello]),
    message: /contents\[1\]\.parts: contents\.parts must not be empty/,
  },
  {
    rule: 'a call turn that opens',
    rejected: body([model(call('a')), user(response('a'))]),
    accepted: body([hello, model(call('a')), user(response('a'))]),
    message: /function call turn comes immediately after a user turn/,
  },
  {
    rule: 'a call turn after a model turn',
    rejected: body([hello, model(text('x')), model(call('a')), user(response('a'))]),
    accepted: body([hello, model(text('x'), call('a')), user(response('a'))]),
    message: /function call turn comes immediately after a user turn/,
  },
  {
    rule: 'a response turn without calls',
    rejected: body([hello, model(text('x')), user(response('a'))]),
    accepted: body([hello, model(call('a')), user(response('a'))]),
    message: /function response turn comes immediately after a function call turn/,
  },
  {
    rule: 'an unanswered call',
    rejected: body([hello, model(call('a')), hello]),
    accepted: body([hello, model(call('a')), user(response('a')), hello]),
    message: /number of function response parts is equal/,
  },
  {
    rule: 'one of two results missing',
    rejected: body([hello, model(call('a'), call('b')), user(response('a'))]),
    accepted: body([hello, model(call('a'), call('b')), user(response('b'), response('a'))]),
    message: /number of function response parts is equal/,
  },
  {
    rule: 'a response under another name',
    rejected: body([hello, model(call('a')), user(response('b'))]),
    accepted: body([hello, model(call('a')), user(response('a'))]),
    message: 'Request contains an invalid argument.',
  },
  {
    rule: 'a response under another id',
    rejected: body([hello, model(call('a', '1')), user(response('a', '2'))]),
    accepted: body([hello, model(call('a', '1')), user(response('a', '1'))]),
    message: 'Request contains an invalid argument.',
  },
  {
    rule: 'a response without a name',
    rejected: body([hello, model(call('a')), user(response(''))]),
    accepted: body([hello, model(call('a')), user(response('a'))]),
    message: /function_response\.name: Name cannot be empty/,
  },
  {
    rule: 'a function without a name',
    rejected: body([hello], { tools: [{ functionDeclarations: [{ description: 'x' }] }] }),
    accepted: declaring('get_weather'),
    message: /function_declarations\[0\]\.name: Invalid function name/,
  },
  {
    rule: 'a function name with a space',
    rejected: declaring('get weather'),
    accepted: declaring('get.weather:now'),
    message: /function_declarations\[0\]\.name: Invalid function name/,
  },
  {
    rule: 'functions with JSON before Gemini 3',
    rejected: declaring('a', { responseMimeType: 'application/json' }),
    accepted: declaring('a', { responseMimeType: 'text/plain' }),
    message: /application\/json' is unsupported/,
  },
  {
    rule: 'a call without its signature from Gemini 3 on',
    path: GEMINI_3,
    rejected: body([hello, model(call('a')), user(response('a'))]),
    accepted: body([
      hello,
      model({ ...call('a'), thoughtSignature: 'skip_thought_signature_validator' }),
      user(response('a')),
    ]),
    message: /missing a thought_signature in functionCall parts.*`default_api:a` , position 2/,
  },
  {
    rule: 'a signature that it did not give',
    rejected: body([hello, model({ ...call('a'), thoughtSignature: 'Zm9yZWlnbg==' }), user(response('a'))]),
    accepted: body([hello, model(call('a')), user(response('a'))]),
    message: 'Corrupted thought signature.',
  },
];

describe('the simulated generateContent wire rejects', () => {
  let simulator: Simulator;

  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.close());

  for (const { rule, rejected, accepted, message, path = ADDRESS.gemini } of CASES) {
    it(rule, async () => {
      const verdict = await verdictOn(simulator, path, rejected);
      expect(verdict).to.deep.include({ status: 400 });
      if (typeof message === 'string') expect(verdict.message).to.equal(message);
      else expect(verdict.message).to.match(message);
      expect(verdict.body).to.have.nested.property('error.status', 'INVALID_ARGUMENT');
      expect(await verdictOn(simulator, path, accepted)).to.deep.include({ status: 200, message: '' });
    });
  }

  it('no results of parallel calls in contents of their own, as LangChain sends them', async () => {
    const calls = model(call('a'), call('b'));
    const separate = body([hello, calls, user(response('a')), user(response('b')), user(text('So?'))]);
    expect(await verdictOn(simulator, ADDRESS.gemini, separate)).to.deep.include({ status: 200, message: '' });
    const short = body([hello, calls, user(response('a')), user(text('So?'))]);
    expect(await verdictOn(simulator, ADDRESS.gemini, short)).to.deep.include({ status: 400 });
  });

  it('a call whose signed arguments were modified', async () => {
    simulator.enqueue({ calls: [{ name: 'a', arguments: { x: 1 } }] });
    const reply = await post(simulator, GEMINI_3, body([hello]));
    const [candidate] = objectsIn(asObject(await reply.json()).candidates);
    const [part] = objectsIn(asObject(candidate?.content).parts);
    const signed = (args: object): object =>
      body([hello, model({ ...part, functionCall: { name: 'a', args } }), user(response('a'))]);
    expect(await verdictOn(simulator, GEMINI_3, signed({ x: 1 }))).to.deep.include({ status: 200 });
    expect(await verdictOn(simulator, GEMINI_3, signed({ x: 2 }))).to.deep.include({
      status: 400,
      message: 'Corrupted thought signature.',
    });
  });

  it('no missing signatures in earlier turns', async () => {
    const contents = [hello, model(call('a')), user(response('a')), model(text('Done.')), user(text('Thanks.'))];
    expect(await verdictOn(simulator, GEMINI_3, body(contents))).to.deep.include({ status: 200 });
  });

  it('streamed requests with plain JSON that is labelled as a stream', async () => {
    const reply = await post(
      simulator,
      ADDRESS.gemini.replace(':generateContent', ':streamGenerateContent?alt=sse'),
      body([]),
    );
    expect(reply.status).to.equal(400);
    expect(reply.headers.get('content-type')).to.equal('text/event-stream');
    expect(asObject(await reply.json())).to.have.property('error');
  });

  it('snake case and camel case alike', async () => {
    const rejected = body([
      hello,
      { role: 'model', parts: [{ function_call: { name: 'a' } }] },
      { parts: [{ function_response: { name: 'b', response: {} } }] },
    ]);
    expect((await verdictOn(simulator, ADDRESS.gemini, rejected)).message).to.equal(
      'Request contains an invalid argument.',
    );
  });
});
