/** Clients that are set up for other hosts, with only the host's name changed. */
import Anthropic from '@anthropic-ai/sdk';
import { expect } from 'chai';
import Groq from 'groq-sdk';
import OpenAI, { AzureOpenAI } from 'openai';
import WebSocket from 'ws';
import { startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';

const QUESTION = [{ role: 'user' as const, content: 'Hello' }];

describe('the gateway at the paths of other hosts', () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.close());

  const options = (path: string) => ({ apiKey: TOKENS.ann, baseURL: gateway.url + path, maxRetries: 0 });

  it('serves OpenAI’s clients', async () => {
    for (const path of ['/openai/v1', '/groq/openai/v1']) {
      const client = new OpenAI(options(path));
      expect((await client.responses.create({ model: 'anthropic', input: 'Hello' })).output_text).to.not.equal('');
      expect((await client.models.list()).data.length).to.be.greaterThan(1);
    }
  });

  it('serves Groq’s clients', async () => {
    for (const path of ['', '/groq']) {
      const answer = await new Groq(options(path)).chat.completions.create({ model: 'groq', messages: QUESTION });
      expect(answer.choices[0]?.message.content).to.be.a('string').and.not.equal('');
    }
  });

  it('serves Anthropic’s clients', async () => {
    const message = await new Anthropic(options('/anthropic')).messages.create({
      model: 'google',
      max_tokens: 100,
      messages: QUESTION,
    });
    expect(message.content[0]).to.have.property('type', 'text');
  });

  it('serves Azure’s clients, streams too, by the name of a deployment', async () => {
    const client = new AzureOpenAI({
      endpoint: gateway.url,
      apiKey: TOKENS.ann,
      apiVersion: '2025-04-01-preview',
      deployment: 'openai/gpt-5-mini',
      maxRetries: 0,
    });
    const before = gateway.simulator.requests.length;
    const answer = await client.chat.completions.create({ model: 'ignored', messages: QUESTION });
    expect(answer.choices[0]?.message.content).to.be.a('string').and.not.equal('');
    let text = '';
    const stream = await client.chat.completions.create({ model: 'ignored', messages: QUESTION, stream: true });
    for await (const chunk of stream) text += chunk.choices[0]?.delta.content ?? '';
    expect(text).to.equal(answer.choices[0]?.message.content);
    const models = gateway.simulator.requests.slice(before).map(({ body }) => (body as { model: string }).model);
    expect(models).to.deep.equal(['gpt-5-mini', 'gpt-5-mini']);
    const response = await client.responses.create({ model: 'anthropic', input: 'Hello' });
    expect(response.output_text).to.not.equal('');
  });

  it('opens WebSockets', async () => {
    const socket = new WebSocket(`${gateway.url.replace('http', 'ws')}/openai/v1/responses`, {
      headers: { authorization: `Bearer ${TOKENS.ann}` },
    });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    socket.close();
  });

  it('refuses other paths and missing tokens as everywhere', async () => {
    for (const path of ['/openai/v1/unknown', '/openai/v2/responses', '/anthropic/messages', '/groq/v1/responses'])
      expect((await gateway.request(path, {})).status, path).to.equal(404);
    const response = await fetch(`${gateway.url}/openai/deployments/groq/chat/completions`, {
      method: 'POST',
      headers: { 'api-key': 'not-a-token', 'content-type': 'application/json' },
      body: '{}',
    });
    expect(response.status).to.equal(401);
  });
});
