import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import WebSocket from 'ws';
import { createHttpApi } from '../../imports/api/createHttpApi';
import type { HttpApiPorts } from '../../imports/api/createHttpApi';
import { LLMInvalidRequestError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { createAIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';

describe('createAIModule in its shortest form', () => {
  it('uses the vendor as the id of a provider without one, and needs no ports', async () => {
    const module = createAIModule({
      providers: [
        { vendor: 'openai', apiKey: 'k' },
        { id: 'second', vendor: 'openai', apiKey: 'k' },
      ],
    });
    expect([...module.providers.keys()]).to.deep.equal(['openai', 'second']);
    await module.close();
    expect(() =>
      createAIModule({
        providers: [
          { vendor: 'openai', apiKey: 'k' },
          { vendor: 'openai', apiKey: 'k' },
        ],
      }),
    )
      .to.throw(LLMInvalidRequestError, '"openai"')
      .with.property('path', 'providers[1].id');
  });

  it('names what is missing if there is no provider', () => {
    expect(() => createAIModule({}))
      .to.throw(LLMInvalidRequestError, 'No provider is configured.')
      .with.property('path', 'providers');
  });
});

describe('createHttpApi with nothing but express and authenticate', () => {
  async function serve(authenticate: unknown) {
    const module = createAIModule({ providers: [{ vendor: 'openai', apiKey: 'k' }] });
    const api = createHttpApi(module, { authenticate: authenticate as HttpApiPorts['authenticate'] });
    const server = createServer(express().use(api.router));
    server.on('upgrade', (request, socket, head) => {
      if (!api.handleUpgrade(request, socket, head)) socket.destroy();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return {
      port: (server.address() as AddressInfo).port,
      close: async (): Promise<void> => {
        await api.close();
        server.closeAllConnections();
        server.close();
        await module.close();
      },
    };
  }

  it('accepts a principal that the host returns directly or by a promise', async () => {
    for (const authenticate of [() => ({ userId: 'ann' }), async () => ({ userId: 'ann', scopes: ['read'] })]) {
      const { port, close } = await serve(authenticate);
      expect((await fetch(`http://127.0.0.1:${port}/v1/models`)).status).to.equal(200);
      await close();
    }
  });

  it('rejects a request for which the host returns anything but an object with a user id', async () => {
    for (const principal of [
      undefined,
      null,
      false,
      true,
      '',
      'ann',
      0,
      {},
      { userId: '' },
      { userId: null },
      { userId: 7 },
      [],
    ]) {
      const { port, close } = await serve(async () => principal);
      const answer = await fetch(`http://127.0.0.1:${port}/v1/models`, { headers: { authorization: 'Bearer x' } });
      expect(
        [answer.status, ((await answer.json()) as { error: { type: string } }).error.type],
        JSON.stringify(principal),
      ).to.deep.equal([401, 'authentication_error']);
      const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/responses`);
      socket.on('error', () => undefined);
      const [, refusal] = (await once(socket, 'unexpected-response')) as [
        unknown,
        { statusCode: number; resume(): void },
      ];
      refusal.resume();
      expect(refusal.statusCode, JSON.stringify(principal)).to.equal(401);
      await close();
    }
  });
});
