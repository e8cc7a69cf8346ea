/** Accounts at MCP servers: what an authorization server and a hostile one get to see. */
import { expect } from 'chai';
import { mcp } from '../../../../imports/business/mcp/mcp';
import type { McpSource } from '../../../../imports/business/mcp/infrastructure/McpSource';
import { McpOAuth } from '../../../../imports/business/mcp/infrastructure/McpOAuth';
import type { McpOAuthSettings } from '../../../../imports/business/mcp/infrastructure/McpOAuth';
import { describeInSoak } from '../../../support/soak';
import { failure } from '../../../support/failure';
import { serveProtected } from '../../../support/mcp/serveProtected';
import type { ProtectedServer } from '../../../support/mcp/serveProtected';

describeInSoak('an account at an MCP server', () => {
  const servers: ProtectedServer[] = [];
  const sources: McpSource[] = [];
  afterEach(async () => {
    for (const source of sources.splice(0)) await source.close();
    for (const server of servers.splice(0)) await server.close();
  });

  const serve = async (authorizationServer?: string): Promise<ProtectedServer> => {
    const server = await serveProtected(authorizationServer);
    servers.push(server);
    return server;
  };
  const connect = (url: string, user: string, accounts: Map<string, string>, oauth: Partial<McpOAuthSettings> = {}) => {
    const asked: URL[] = [];
    const source = mcp({
      name: 'p',
      url,
      allowPrivateHosts: ['127.0.0.1'],
      headers: { 'x-tenant': 'secret of ours' },
      oauth: {
        redirectUrl: 'https://app.example.com/callback',
        store: {
          load: () => Promise.resolve(accounts.get(user)),
          save: (account) => Promise.resolve(void accounts.set(user, account)),
        },
        onAuthorize: (asking) => void asked.push(asking),
        ...oauth,
      },
    });
    sources.push(source);
    return { source, asked };
  };
  const signIn = async (server: ProtectedServer, user: string, accounts: Map<string, string>) => {
    const { source, asked } = connect(server.url, user, accounts);
    expect(await failure(source.list())).to.have.property('code', 'connection-failed');
    await source.finishAuthorization(server.approve(asked[0]!, user));
    return source;
  };

  it('is used with PKCE, the resource and the right issuer, for each user with tokens of their own', async () => {
    const server = await serve();
    const accounts = new Map<string, string>();
    for (const user of ['ann', 'ben']) {
      const source = await signIn(server, user, accounts);
      expect((await source.list()).map(({ name }) => name)).to.deep.equal(['p_ping']);
      expect(server.tokensSeen.at(-1)).to.equal(`token of ${user}`);
    }
    const [exchange] = server.exchanges;
    expect(exchange?.get('resource')).to.equal(server.url);
    expect(exchange?.get('code_verifier')).to.match(/^.{43,128}$/);
    expect(server.authorizations[0]?.get('code_challenge_method')).to.equal('S256');
    expect(server.leaks).to.deep.equal([]);
  });

  it('takes no answer that it has not asked for, or that another authorization server gave', async () => {
    const server = await serve();
    const { source, asked } = connect(server.url, 'ann', new Map());
    await failure(source.list());
    const forged = server.approve(asked[0]!, 'eve');
    forged.set('state', 'forged');
    expect(await failure(source.finishAuthorization(forged))).to.include({ code: 'invalid-request', path: 'state' });
    await failure(source.list());
    const mixedUp = server.approve(asked[1]!, 'ann');
    mixedUp.set('iss', 'https://evil.example.com');
    expect(await failure(source.finishAuthorization(mixedUp))).to.be.an('error');
    expect(server.exchanges).to.deep.equal([]);
  });

  it('is not used at another server that is given the same store', async () => {
    const [server, other] = [await serve(), await serve()];
    const accounts = new Map<string, string>();
    await (await signIn(server, 'ann', accounts)).list();
    const { source } = connect(other.url, 'ann', accounts);
    await failure(source.list());
    expect(other.tokensSeen).to.deep.equal([]);
  });

  it('does not tell the secret of its client to another authorization server', async () => {
    const evil = await serve();
    const server = await serve();
    const accounts = new Map<string, string>();
    const client = { clientId: 'app', clientSecret: 'client secret' };
    const first = connect(server.url, 'ann', accounts, client);
    await failure(first.source.list());
    expect(first.asked[0]?.searchParams.get('client_id')).to.equal('app');
    server.authorizationServer = evil.issuer;
    const { discovery: _, ...account } = JSON.parse(accounts.get('ann') ?? '{}') as Record<string, unknown>;
    accounts.set('ann', JSON.stringify(account));
    const second = connect(server.url, 'ann', accounts, client);
    await failure(second.source.list());
    expect(second.asked[0]?.origin).to.equal(evil.issuer);
    expect(second.asked[0]?.searchParams.get('client_id')).to.equal('registered');
  });
});

describe('a sign-in at an MCP server', () => {
  it('opens public https addresses and permitted hosts in a browser, and nothing else', async () => {
    for (const [address, privateHosts, isOpened] of [
      ['https://auth.example.com/authorize', [], true],
      ['http://127.0.0.1:9/authorize', ['127.0.0.1'], true],
      ['http://127.0.0.1:9/authorize', [], false],
      ['http://auth.example.com/authorize', [], false],
      ['file:///etc/passwd', [], false],
      ['file://127.0.0.1/etc/passwd', ['127.0.0.1'], false],
      ['ms-settings:privacy', true, false],
      ['https://ann:secret@auth.example.com/authorize', [], false],
    ] as const) {
      const opened: URL[] = [];
      const settings = {
        redirectUrl: 'https://app.example.com/callback',
        store: { load: () => Promise.resolve(undefined), save: () => Promise.resolve(true) },
        onAuthorize: (url: URL) => void opened.push(url),
      };
      const oauth = new McpOAuth(settings, 'https://mcp.example.com/', privateHosts);
      const error = await oauth.redirectToAuthorization(new URL(address)).catch((thrown: unknown) => thrown);
      expect(opened.map(({ origin }) => origin)).to.deep.equal(isOpened ? [new URL(address).origin] : []);
      if (!isOpened) expect(error, address).to.have.property('code', 'invalid-request');
    }
  });
});
