/** Refreshing on a real server while responses are lost and sealing keys are rotated. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { expect } from 'chai';
import { LLMAuthError, LLMConnectionError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { failure } from '../support/failure';
import { TestAuthorizationServer } from '../support/oauth/TestAuthorizationServer';
import { connectAs, createProvider, PROVIDER_ID } from '../support/oauth/connectedProvider';
import { ADMIN, newKey, ProvidersHost } from '../support/oauth/ProvidersHost';

describe('a refresh whose response is lost', () => {
  let app: ProvidersHost;
  let server: TestAuthorizationServer;
  afterEach(async () => {
    await app.stop();
    await server.stop();
  });

  const connected = async (reuseGraceMs: number): Promise<void> => {
    app = await ProvidersHost.start();
    server = await TestAuthorizationServer.start({ redirectUris: [`${app.url}/oauth/callback`], reuseGraceMs });
    await createProvider(app, server);
    await connectAs(app, 'alice');
    await app.expire(PROVIDER_ID, 'alice');
  };
  const getToken = async (): Promise<string | undefined> =>
    (await app.module.credentials.getAccessToken({ providerId: PROVIDER_ID, userId: 'alice' }))?.token;
  const loseAnswers = (): void => {
    server.intercept = (request, response) => {
      if (request.url === '/token') dropResponse(response);
      return false;
    };
  };

  it('is repeated with the same token, which servers with a grace period accept', async () => {
    await connected(60_000);
    loseAnswers();
    expect(await failure(getToken())).to.be.instanceOf(LLMConnectionError);
    expect(server.countGranted('refresh_token')).to.equal(1);
    server.intercept = () => false;
    expect(await getToken()).to.be.a('string');
    const shown = server.tokenRequests
      .filter(({ parameters }) => parameters.get('grant_type') === 'refresh_token')
      .map(({ parameters }) => parameters.get('refresh_token'));
    expect(new Set(shown).size).to.equal(1);
    await app.expire(PROVIDER_ID, 'alice');
    expect(await getToken(), 'the grant lives on').to.be.a('string');
  });

  it('requires a reconnect only if the server rejects the repeated token', async () => {
    await connected(0);
    loseAnswers();
    expect(await failure(getToken())).to.be.instanceOf(LLMConnectionError);
    expect((await app.operations['ai.providers.list'](ADMIN))[0]).to.include({ needsReconnect: false });
    server.intercept = () => false;
    expect(await failure(getToken()))
      .to.be.instanceOf(LLMAuthError)
      .with.property('message')
      .that.includes('was interrupted')
      .and.includes('reconnect required');
    expect((await app.operations['ai.providers.list']({ userId: 'alice', source: 'http' }))[0]).to.include({
      reconnectReason: 'interrupted',
    });
    expect((await connectAs(app, 'alice')).page.status).to.equal(200);
    expect(await getToken()).to.be.a('string');
  });
});

describe('a server that has closed its idle connections', () => {
  it('receives every token request, each on a new connection', async () => {
    const app = await ProvidersHost.start();
    const server = await TestAuthorizationServer.start({ redirectUris: [`${app.url}/oauth/callback`] });
    await createProvider(app, server);
    await connectAs(app, 'alice');
    const used = new Set<Socket>();
    server.intercept = ({ socket }) => {
      // The client meets a connection whose end it has not noticed yet.
      if (used.has(socket)) socket.destroy();
      used.add(socket);
      return socket.destroyed;
    };
    for (let round = 1; round <= 3; round++) {
      await app.expire(PROVIDER_ID, 'alice');
      await app.module.credentials.getAccessToken({ providerId: PROVIDER_ID, userId: 'alice' });
      expect(server.countGranted('refresh_token')).to.equal(round);
    }
    await app.stop();
    await server.stop();
  });
});

describe('a rotation of sealing keys during refreshes', () => {
  it('causes no further refreshes, and reseals everything with the new key', async () => {
    const [oldKey, nextKey] = [newKey('k1'), newKey('k2')];
    const app = await ProvidersHost.start({ database: 'MongoDB over the wire', secretKeys: `${oldKey},${nextKey}` });
    const server = await TestAuthorizationServer.start({ redirectUris: [`${app.url}/oauth/callback`] });
    await createProvider(app, server);
    const users = ['alice', 'bob'];
    for (const userId of users) await connectAs(app, userId);
    // Some processes still have the new key in second place, others already seal with it.
    const modules = [app.module, app.createModule({ secretKeys: `${nextKey},${oldKey}` })];
    const rounds = 5;
    for (let round = 0; round < rounds; round++) {
      for (const userId of users) await app.expire(PROVIDER_ID, userId);
      const requests = users.flatMap((userId) =>
        modules.flatMap((module) =>
          Array.from({ length: 5 }, () => module.credentials.getAccessToken({ providerId: PROVIDER_ID, userId })),
        ),
      );
      const [tokens, rotation] = await Promise.all([Promise.all(requests), modules[1]!.administration.rotateKeys()]);
      expect(new Set(tokens.map((credential) => credential?.token)).size).to.equal(users.length);
      expect(rotation.unopened).to.equal(0);
    }
    expect(server.countGranted('refresh_token')).to.equal(users.length * rounds);
    await modules[1]!.administration.rotateKeys();
    expect(new Set((await app.credentials.find({})).map(({ keyId }) => keyId))).to.deep.equal(new Set(['k2']));
    const onlyNew = app.createModule({ secretKeys: nextKey });
    for (const userId of users)
      expect((await onlyNew.credentials.getAccessToken({ providerId: PROVIDER_ID, userId }))?.kind).to.equal('bearer');
    await app.stop();
    await server.stop();
  });
});

/** Drops the response after the server has processed the request. */
function dropResponse(response: ServerResponse): void {
  response.end = () => response.destroy();
  response.write = () => true;
}
