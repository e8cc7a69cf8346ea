import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import { createHttpApi } from '../../../imports/api/createHttpApi';
import type { HttpApi } from '../../../imports/api/createHttpApi';
import { createAIModule } from '../../../imports/business/ai/infrastructure/factories/createAIModule';
import type { AIModule } from '../../../imports/business/ai/infrastructure/factories/createAIModule';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { RecordingLogger } from '../../support/RecordingLogger';

describe('Clients that read the plain stream until [DONE]', () => {
  let simulator: Simulator;
  let module: AIModule;
  let api: HttpApi;
  let server: Server;
  let url: string;
  before(async () => {
    simulator = await startSimulator();
    module = createAIModule(
      {
        providers: [
          { vendor: 'openai', apiKey: 'a-key', baseURL: simulator.baseURL('openai'), allowPrivateHosts: true },
        ],
      },
      { logger: new RecordingLogger() },
    );
    api = createHttpApi(module, { authenticate: () => ({ userId: 'ann' }) });
    server = createServer(express().use(api.router));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  after(async () => {
    await api.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await module.close();
    await simulator.close();
  });

  /** The data of all events up to `[DONE]`, read as the simplest client reads them. */
  async function converse(conversation: string): Promise<readonly string[]> {
    const stream = await fetch(`${url}/api/output/stream?conversation=${conversation}`);
    const input = await fetch(`${url}/api/input`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ conversation, message: 'Hello.' }),
    });
    expect(input.status).to.equal(202);
    let text = '';
    for await (const bytes of stream.body!.pipeThrough(new TextDecoderStream())) {
      text += bytes;
      const lines = text.split('\n').filter((line) => line.startsWith('data: '));
      if (text.includes('data: [DONE]\n\n')) return lines.map((line) => line.slice('data: '.length));
    }
    throw new Error(`The stream ended before [DONE]: ${text}`);
  }

  it('end after an answer', async () => {
    simulator.enqueue({ text: 'Good day.' });
    expect((await converse('fine')).at(-1)).to.equal('[DONE]');
  });

  it('end after a rejected key', async () => {
    simulator.enqueue({ status: 401, body: { error: { message: 'no', code: 'invalid_api_key' } } });
    expect(await converse('key')).to.deep.equal(['ERROR: Unauthorized LLM API key', '[DONE]']);
  });

  it('end after a stream that breaks in the middle', async () => {
    simulator.enqueue({ text: 'one two three four', fault: { kind: 'close-without-end-marker' } });
    const data = await converse('broken');
    expect(data.at(-2)).to.match(/^ERROR: /);
    expect(data.at(-1)).to.equal('[DONE]');
    expect(data.filter((each) => each === '[DONE]')).to.have.length(1);
  });
});
