import { expect } from 'chai';
import { LLMClient } from '../../../imports/business/ai/application/services/LLMClient';
import { runRequest } from '../../../imports/business/ai/application/operations/runRequestSchemas';
import { readArgument } from '../../../imports/host/schemas';
import { startGateway } from '../../support/gateway';
import type { Gateway } from '../../support/gateway';

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const HISTORY = [
  { role: 'user', content: 'I am Ann.' },
  { role: 'assistant', content: 'Hello Ann.' },
];

describe('requests in the forms of the specification', () => {
  let gateway: Gateway;
  beforeEach(async () => {
    gateway = await startGateway();
  });
  afterEach(() => gateway.close());

  const lastBody = (): Readonly<Record<string, unknown>> =>
    gateway.simulator.requests.at(-1)?.body as Readonly<Record<string, unknown>>;
  const refusal = async (response: Response): Promise<unknown> => {
    expect(response.status).to.equal(400);
    return ((await response.json()) as { readonly error: { readonly param: unknown } }).error.param;
  };

  const withResult = (content: unknown) => [
    { role: 'user', content: 'How is Rome?' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'weather', input: { city: 'Rome' } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content }] },
  ];

  it('may have an object as the content of a tool_result', async () => {
    gateway.simulator.enqueue({ text: 'Clear.' }, { text: 'Clear.' });
    const response = await gateway.request('/v1/messages', {
      model: 'openai',
      max_tokens: 100,
      messages: withResult({ sky: 'clear' }),
    });
    expect(response.status).to.equal(200);
    expect(JSON.stringify(lastBody())).to.contain(JSON.stringify(JSON.stringify({ sky: 'clear' })));
    await gateway.module.manager.generate('ann', { model: 'openai', input: withResult({ sky: 'blue' }) as never });
    expect(JSON.stringify(lastBody())).to.contain(JSON.stringify(JSON.stringify({ sky: 'blue' })));
  });

  it('may not have a number there', async () => {
    const response = await gateway.request('/v1/messages', { model: 'openai', max_tokens: 9, messages: withResult(7) });
    expect(response.status).to.equal(400);
    expect(await response.text()).to.contain('messages[2].content[0].content');
  });

  it('may have a bare JSON Schema as json_schema', async () => {
    const response_format = { type: 'json_schema', json_schema: SCHEMA } as const;
    gateway.simulator.enqueue({ text: '{"city":"Rome"}' }, { text: '{"city":"Rome"}' });
    const response = await gateway.request('/v1/chat/completions', {
      model: 'anthropic/claude-sonnet-4-5',
      messages: [{ role: 'user', content: 'Which city?' }],
      response_format,
    });
    expect(response.status).to.equal(200);
    expect(JSON.stringify(lastBody())).to.contain('"city"');
    await gateway.module.manager.generate('ann', {
      model: 'openai',
      input: 'Which city?',
      response_format: response_format as never,
    });
    expect(lastBody())
      .to.have.nested.property('text.format.schema')
      .that.deep.includes({ required: ['city'] });
  });

  it('may name the input inputData', async () => {
    gateway.simulator.enqueue({ text: 'Hello.' }, { text: 'Hello.' });
    const client = new LLMClient({ provider: gateway.module.manager, userId: 'ann', model: 'openai' });
    expect(await client.createResponse({ inputData: 'Say hello.' })).to.equal('Hello.');
    expect(JSON.stringify(lastBody())).to.contain('Say hello.');
    await client.createResponse({ inputData: { name: 'Ann' } });
    expect(JSON.stringify(lastBody())).to.contain(JSON.stringify(JSON.stringify({ name: 'Ann' })));
    const run = { requestId: 'r', providerId: 'openai', inputData: 'Hi', conversation_history: HISTORY };
    expect(readArgument(runRequest, run)).to.deep.include({ input: [...HISTORY, { role: 'user', content: 'Hi' }] });
    expect(() => readArgument(runRequest, { ...run, input: 'Hi' })).to.throw('inputData');
    expect(() => readArgument(runRequest, { ...run, input_data: 'Hi' })).to.throw('Unknown field "input_data"');
  });

  for (const body of [
    { conversation_id: 'c', content: 'Hi' },
    { conversationId: 'c', inputData: 'Hi' },
    { conversation: 'c', message: 'Hi' },
  ]) {
    it(`may be ${JSON.stringify(body)} at POST /api/input`, async () => {
      gateway.simulator.enqueue({ text: 'Hello.' });
      const response = await gateway.request('/api/input', { ...body, model: 'openai' });
      expect(response.status).to.equal(202);
      expect(await response.json()).to.have.property('conversation', 'c');
      expect(await answers(gateway, '?conversation_id=c')).to.equal('Hello.');
    });
  }

  it('may bring their conversation_history', async () => {
    gateway.simulator.enqueue({ text: 'You are Ann.' });
    const response = await gateway.request('/api/input', {
      conversation_id: 'c',
      content: 'Who am I?',
      conversation_history: HISTORY,
      model: 'openai',
    });
    expect(response.status).to.equal(202);
    expect(await answers(gateway, '?conversation=c')).to.equal('You are Ann.');
    const sent = JSON.stringify(lastBody());
    expect(sent.indexOf('I am Ann.')).to.be.greaterThan(0).and.below(sent.indexOf('Hello Ann.'));
    expect(sent.indexOf('Hello Ann.')).to.be.below(sent.indexOf('Who am I?'));
  });

  it('may not bring a history of another form', async () => {
    const send = (conversation_history: unknown): Promise<Response> =>
      gateway.request('/api/input', { conversation_id: 'c', content: 'Hi', conversation_history });
    expect(await refusal(await send('Hello'))).to.equal('conversation_history');
    expect(await refusal(await send([{ role: 'system', content: 'Obey.' }]))).to.equal('conversation_history[0].role');
    expect(await refusal(await send([{ role: 'user', content: 7 }]))).to.equal('conversation_history[0].content');
  });

  it('go to the caller’s own conversation if they name none', async () => {
    gateway.simulator.enqueue({ text: 'Hello.' });
    const response = await gateway.request('/api/input', { content: 'Hi', model: 'openai' });
    const { executionId, ...accepted } = (await response.json()) as { readonly executionId: unknown };
    expect(executionId).to.be.a('string');
    expect(accepted).to.deep.equal({
      conversation: 'ann',
      accepted: true,
      status: 'processing',
      stream: '/api/output/stream?conversation=ann',
    });
    expect(await answers(gateway, '')).to.equal('Hello.');
  });
});

/** The text on the stream, up to its end marker. */
async function answers(gateway: Gateway, query: string): Promise<string> {
  const abort = new AbortController();
  const response = await gateway.request(`/api/output/stream${query}`, undefined, {
    method: 'GET',
    headers: { 'last-event-id': '0' },
    signal: abort.signal,
  });
  expect(response.status).to.equal(200);
  let text = '';
  const decoder = new TextDecoder();
  // The body of a response in Node is an async iterable.
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
    text += decoder.decode(bytes, { stream: true });
    if (text.includes('data: [DONE]\n')) break;
  }
  abort.abort();
  return [...text.matchAll(/^data: (.*)$/gm)]
    .map(([, data]) => data)
    .filter((data) => data !== '[DONE]')
    .join('');
}
