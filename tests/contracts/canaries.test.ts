/** The canary watch detects a secret on every channel; the rest of the suite shows that none leaks. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { WebSocket, WebSocketServer } from 'ws';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { KeyRing } from '../../imports/business/providers/infrastructure/sealing/KeyRing';
import { DdpSession } from '../stubs/server/DdpSession';
import { CANARY, canaryBase64, canaryWatch } from '../support/canaries';
import { startGateway } from '../support/gateway';
import { TestAuthorizationServer, CLIENT } from '../support/oauth/TestAuthorizationServer';
import { connectAs, createProvider, PROVIDER_ID } from '../support/oauth/connectedProvider';
import { ADMIN, ProvidersHost } from '../support/oauth/ProvidersHost';
import { answer } from '../../imports/testing/responses';
import { ScriptedProvider } from '../../imports/testing/ScriptedProvider';

const SECRET = `sk-${CANARY}-0123456789`;

describe('the canary watch', () => {
  const ways: Record<string, (secret: string) => Promise<void>> = {
    'in a body': (secret) => serve((_request, response) => response.end(`{"key":"${secret}"}`)),
    'in a header': (secret) => serve((_request, response) => response.writeHead(204, { 'x-key': secret }).end()),
    'in two pieces of a body': (secret) =>
      serve((_request, response) => {
        const half = secret.indexOf(CANARY) + 5;
        response.write(secret.slice(0, half), () => response.end(secret.slice(half)));
      }),
    'as bytes': (secret) => serve((_request, response) => response.end(Buffer.from(secret))),
    'in base64': (secret) => serve((_request, response) => response.end(Buffer.from(secret).toString('base64'))),
    'in base64 that begins elsewhere': (secret) =>
      serve((_request, response) => response.end(Buffer.from(`{"a":"${secret}"}`).toString('base64'))),
    'in base64 that begins at yet another place': (secret) =>
      serve((_request, response) => response.end(Buffer.from(`--${secret}`).toString('base64url'))),
    'in hexadecimal': (secret) => serve((_request, response) => response.end(Buffer.from(secret).toString('hex'))),
    'over a WebSocket': overWebSocket,
    'to a DDP client': async (secret) =>
      new DdpSession({}, () => undefined).send({ msg: 'result', id: '1', result: { deep: [secret] } }),
    'to the output': async (secret) =>
      void process.stdout.write(`      (a planted secret for the watch to detect: ${secret})\n`),
    'to a listener': async (secret) => {
      const loop = new AgenticLoop({
        provider: new ScriptedProvider([answer(secret)]),
        toolExecutor: new ToolRegistry(),
      });
      loop.on('event', () => undefined);
      await loop.execute('ann', { model: 'm', input: 'Hello' });
    },
  };
  for (const [way, leak] of Object.entries(ways)) {
    it(`detects a secret that leaves ${way}`, async () => {
      expect(canaryWatch.take()).to.deep.equal([]);
      await leak(SECRET);
      expect(canaryWatch.take()).not.to.deep.equal([]);
    });
  }

  it('reports nothing when no secret leaves', async () => {
    await serve((_request, response) => response.end('an answer'));
    expect(canaryWatch.take()).to.deep.equal([]);
  });

  it('watches the app’s own servers, and is planted in all of its secrets', async () => {
    const before = canaryWatch.seen.get('a server’s socket') ?? 0;
    const gateway = await startGateway();
    try {
      expect(
        (
          await gateway.request('/v1/chat/completions', {
            model: 'openai',
            messages: [{ role: 'user', content: 'Hello' }],
          })
        ).status,
      ).to.equal(200);
      expect(gateway.module.providers.rows().map(({ apiKey }) => apiKey)).to.satisfy((keys: string[]) =>
        keys.every((key) => key.includes(CANARY)),
      );
    } finally {
      await gateway.close();
    }
    expect(canaryWatch.seen.get('a server’s socket')).to.be.greaterThan(before);
    const app = await ProvidersHost.start();
    const server = await TestAuthorizationServer.start({ redirectUris: [`${app.url}/oauth/callback`] });
    await createProvider(app, server);
    await connectAs(app, 'alice');
    const token = await app.module.credentials.getAccessToken({ providerId: PROVIDER_ID, userId: 'alice' });
    const planted = [
      token?.token,
      CLIENT.secret,
      app.settings.secretKeys,
      ...[...server.rows].filter(([, { model }]) => model === 'RefreshToken').map(([key]) => key),
    ];
    expect(planted).to.have.length(4);
    for (const secret of planted) expect(secret).to.include(CANARY);
    expect(await app.operations['ai.providers.rotateKeys'](ADMIN)).to.deep.equal({ resealed: 0, unopened: 0 });
    await app.stop();
    await server.stop();
  });

  it('is recognizable in sealing keys', () => {
    for (let count = 0; count < 100; count++)
      expect(KeyRing.parse(`k:${canaryBase64()}`).current.bytes.toString('base64')).to.include(CANARY);
  });
});

async function serve(listener: RequestListener): Promise<void> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await (await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)).text();
  server.close();
}

async function overWebSocket(secret: string): Promise<void> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(server, 'listening');
  server.on('connection', (socket) => socket.send(secret));
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  await once(client, 'message');
  client.terminate();
  server.close();
}
