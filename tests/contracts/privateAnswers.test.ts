/** Headers that keep private answers out of caches, HEAD on streams, and the settings of the admin token. */
import { expect } from 'chai';
import { failure } from '../support/failure';
import { startSimulatedServer } from '../support/startSimulatedServer';
import type { SimulatedServer } from '../support/startSimulatedServer';
import { startStandalone } from '../support/startStandalone';

describe('an answer of the server', () => {
  let server: SimulatedServer;
  before(async () => {
    server = await startSimulatedServer();
  });
  after(() => server.close());

  const request = (method: string, path: string, body?: object): Promise<Response> =>
    fetch(server.url + path, {
      method,
      headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(60_000),
    });

  it('is stored by no cache, of the type that it says, and without rights in a browser', async () => {
    for (const [method, path, body] of [
      ['GET', '/v1/models'],
      ['GET', '/api/runs'],
      ['GET', '/api/tokens'],
      ['GET', '/api/providers'],
      ['GET', '/api/session'],
      ['GET', '/metrics'],
      ['GET', '/nothing'],
      ['GET', '/api/runs/%'],
      ['POST', '/v1/responses', { model: 'openai', input: 'x' }],
      ['POST', '/v1/messages', { model: 'openai' }],
    ] as const) {
      const response = await request(method, path, body);
      await response.arrayBuffer();
      expect(response.headers.get('cache-control'), path).to.equal('no-store');
      expect(response.headers.get('x-content-type-options'), path).to.equal('nosniff');
      expect(response.headers.get('content-security-policy'), path).to.equal(
        "default-src 'none'; frame-ancestors 'none'; sandbox",
      );
    }
  });

  it('comes for HEAD on streams, which have no end', async () => {
    const started = await request('POST', '/v1/responses', {
      model: 'openai',
      input: 'x',
      background: true,
      stream: true,
    });
    const [, id = ''] = /"id":"(resp_[^"]+)"/.exec(await started.text()) ?? [];
    for (const path of ['/api/runs/stream', '/api/output/stream', `/v1/responses/${id}?stream=true`]) {
      const response = await request('HEAD', path);
      expect(response.status, path).to.equal(200);
      expect(response.headers.get('content-type'), path).to.contain('text/event-stream');
      expect(response.headers.get('cache-control'), path).to.contain('no-transform');
    }
    const { status } = await fetch(`${server.url}/api/runs/stream`, { method: 'HEAD' });
    expect(status, 'without a token').to.equal(401);
  });
});

describe('BOLIDE_API_TOKEN', () => {
  it('is refused if it is short, without being quoted', async () => {
    const error = await failure(startStandalone({ BOLIDE_API_TOKEN: 'only-23-characters-long' }));
    expect(error)
      .to.be.an('error')
      .with.property('message')
      .that.includes('24 characters')
      .and.includes('BOLIDE_API_TOKEN');
    expect(String(error)).not.to.contain('only-23');
  });

  it('that is empty counts as not set', async () => {
    const server = await startStandalone({ BOLIDE_API_TOKEN: '' });
    expect(server.token).to.have.length.greaterThan(24);
    await server.close();
  });
});
