/** Access to `/mcp` with tokens of an authorization server. */
import { expect } from 'chai';
import { startOffering } from '../../../support/mcp/offeringServer';
import type { OfferingServer } from '../../../support/mcp/offeringServer';
import { FOREIGN_KEY, TestIssuer } from '../../../support/signIn/TestIssuer';

describe('access tokens at /mcp', () => {
  let issuer: TestIssuer;
  let server: OfferingServer;

  before(async () => {
    issuer = await TestIssuer.start();
    server = await startOffering({ MCP_AUTHORIZATION_SERVER: issuer.url });
  });

  beforeEach(() => {
    issuer.reset();
    issuer.header = { typ: 'at+jwt' };
  });

  after(async () => {
    await server.close();
    await issuer.stop();
  });

  const tokenWith = (claims: object = {}): string => {
    const now = Math.floor(Date.now() / 1_000);
    const own = { iss: issuer.url, aud: `${server.url}/mcp`, sub: 'local', client_id: 'editor', jti: 'j1' };
    return issuer.sign({ ...own, iat: now, exp: now + 300, scope: 'openid generate admin', ...claims });
  };
  const list = (token: string, path = '/mcp'): Promise<Response> =>
    fetch(server.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'send', arguments: {} } }),
    });

  it('are accepted if they were issued for this server, as a user of their own and without the rights of admins', async () => {
    const response = await list(tokenWith());
    expect(response.status).to.equal(200);
    expect((await list(tokenWith(), '/api/runs')).status).to.equal(401);
    const add = await fetch(`${server.url}/mcp`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${tokenWith({ aud: ['other', `${server.url}/mcp`] })}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'fail' } }),
    });
    expect(await add.text()).to.include('No such order.');
    const admin = { userId: 'local', isAdmin: true, source: 'http' } as const;
    const { entries } = await server.host.operations['ai.audit.list'](admin, { action: ['tool.call'] });
    expect(entries[0]?.userId).to.equal('oauth:local');
  });

  it('are named in the metadata', async () => {
    const metadata = await fetch(`${server.url}/.well-known/oauth-protected-resource/mcp`);
    expect(await metadata.json()).to.deep.include({ authorization_servers: [issuer.url] });
  });

  for (const [what, claims] of [
    ['another server', () => ({ aud: 'https://other.example/mcp' })],
    ['another resource of this server', () => ({ aud: `${server.url}/v1` })],
    ['nobody', () => ({ aud: undefined })],
  ] as const)
    it(`are refused if they were issued for ${what}`, async () => {
      const response = await list(tokenWith(claims()));
      expect(response.status).to.equal(401);
      expect(response.headers.get('www-authenticate')).to.include('resource_metadata=');
    });

  it('are refused if they are of another issuer, expired, no access tokens, or signed by somebody else', async () => {
    for (const claims of [{ iss: 'https://other.example' }, { exp: 1 }, { client_id: undefined }])
      expect((await list(tokenWith(claims))).status).to.equal(401);
    issuer.header = { typ: 'JWT' };
    expect((await list(tokenWith())).status).to.equal(401);
    issuer.header = { typ: 'at+jwt' };
    issuer.key = FOREIGN_KEY;
    expect((await list(tokenWith())).status).to.equal(401);
    issuer.key = 'none';
    expect((await list(tokenWith())).status).to.equal(401);
  });

  it('need the scope', async () => {
    expect((await list(tokenWith({ scope: 'openid read' }))).status).to.equal(403);
  });
});
