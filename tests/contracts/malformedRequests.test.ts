/** URLs that no router can read: the answer has the shape of the API below whose path they are, and reveals nothing. */
import { expect } from 'chai';
import type { RunningServer } from '../../imports/host/node/startServer';
import { sendRaw } from '../support/sendRaw';
import { startStandalone } from '../support/startStandalone';

/** What Express's own error page, or a stack, would contain. */
const REVEALING = /node_modules|at \w+.* \(|\/imports\/|\.js:\d+|\.ts:\d+|<pre>|URIError|TypeError|Failed to decode/;

const PATHS: readonly (readonly [path: string, member: string])[] = [
  ['/v1/responses/%', 'invalid_request'],
  ['/v1/responses/%E0%A4%A/input_items', 'invalid_request'],
  ['/v1/responses/%/cancel', 'invalid_request'],
  ['/v1/models/%', 'invalid_request'],
  ['/v1/conversations/%', 'invalid_request'],
  ['/v1/files/%', 'invalid_request_error'],
  ['/v1/batches/%', 'invalid_request_error'],
  ['/v1/messages/batches/%', '"request_id"'],
  ['/anthropic/v1/messages/batches/%', '"request_id"'],
  ['/v1beta/models/%', 'INVALID_ARGUMENT'],
  ['/v1beta/models/%:generateContent', 'INVALID_ARGUMENT'],
  ['/openai/deployments/%/chat/completions', 'invalid_request_error'],
  ['/api/runs/%', 'invalid-request'],
  ['/api/runs/%ff', 'invalid-request'],
  ['/api/providers/%', 'invalid-request'],
  ['/api/chat/%/stream', 'path'],
  ['/api/prompts/%', 'invalid-request'],
  ['/api/tokens/%', 'invalid-request'],
  ['/api/user-data/%', 'invalid-request'],
  ['/dashboard/%', 'not-found'],
  ['/oauth/callback/%', 'This page does not exist'],
  ['/oauth/%/start', 'This page does not exist'],
];

/** Neither URLs nor paths, but what a socket can send. */
const TARGETS = ['//', '//[', '/\\', '*', 'http://%/', '/?%', '/%00', '/%2e%2e/%', '/v1/../%', '/;%', 'http://[::1'];

describe('a URL that cannot be decoded', () => {
  let server: RunningServer;
  before(async () => {
    server = await startStandalone();
  });
  after(() => server.close());

  const answer = async (method: string, target: string): Promise<{ readonly status: number; readonly text: string }> =>
    sendRaw(server.url, {
      head: [
        `${method} ${target} HTTP/1.1`,
        'host: 127.0.0.1',
        `authorization: Bearer ${server.token}`,
        'content-length: 0',
        'connection: close',
      ].join('\r\n'),
    });

  for (const [path, member] of PATHS)
    it(`is answered in the shape of its API: ${path}`, async () => {
      for (const method of ['GET', 'POST', 'DELETE']) {
        const { status, text } = await answer(method, path);
        expect(status, method).to.be.oneOf([400, 404, 405]);
        expect(text, method).not.to.match(REVEALING);
        if (method === 'GET' && status !== 405) expect(text).to.contain(member);
      }
    });

  it('is answered in JSON even if Express cannot route it', async () => {
    for (const target of ['http://[::1', 'http://[::1/runs']) {
      const { status, text } = await answer('GET', target);
      expect(status, target).to.equal(400);
      const [head = '', body = ''] = text.split('\r\n\r\n');
      expect(head.toLowerCase(), target)
        .to.contain('content-type: application/json')
        .and.to.contain('x-content-type-options: nosniff');
      expect(JSON.parse(body), target).to.have.nested.property('error.code', 'invalid-request');
      expect(text, target).not.to.match(REVEALING);
    }
    const { text } = await answer('HEAD', 'http://[::1');
    expect(text.endsWith('\r\n\r\n'), 'HEAD has no body').to.equal(true);
  });

  it('is never an error of the server, whatever is sent', async () => {
    for (const target of TARGETS)
      for (const method of ['GET', 'POST', 'HEAD', 'OPTIONS', 'PUT']) {
        const { status, text } = await answer(method, target);
        expect(status, `${method} ${target}`).to.be.greaterThan(0).and.lessThan(500);
        expect(text, `${method} ${target}`).not.to.match(REVEALING);
      }
  });
});
