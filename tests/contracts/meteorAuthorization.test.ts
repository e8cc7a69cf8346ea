/**
 * MCP clients that connect to a Meteor app as its signed-in users: the official client and its OAuth, and requests that
 * no honest client sends.
 */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { OAuthClientProvider } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { Accounts } from 'meteor/accounts-base';
import { check, Match } from 'meteor/check';
import { DDP } from 'meteor/ddp';
import { Meteor } from 'meteor/meteor';
import { resetWebApp, WebApp } from 'meteor/webapp';
import { exposeMethods, exposures } from '../../imports/host/meteor/expose/exposeMethods';
import { startBolide } from '../../imports/host/meteor/startBolide';
import { METEOR_PACKAGES } from '../meteor/meteorPackages';
import { resetMeteor } from '../stubs/server/registry';
import { failure } from '../support/failure';
import { startMeteorApp } from '../support/meteorApp';
import type { MeteorApp, Person } from '../support/meteorApp';
import { suiteInVirtualTime } from '../support/suiteInVirtualTime';

const globals = globalThis as { Package?: Readonly<Record<string, object>> };
const CALLBACK = 'http://127.0.0.1:9876/callback';
const VERIFIER = randomBytes(32).toString('base64url');
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
const DAY_MS = 86_400_000;

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly scope: string;
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A client as the SDK asks for one, whose user consents at once. */
class ConsentingProvider implements OAuthClientProvider {
  private readonly stored = new Map<string, unknown>();
  readonly redirectUrl = CALLBACK;
  readonly clientMetadata = { client_name: 'Test editor', redirect_uris: [CALLBACK] };
  answer = new URLSearchParams();

  constructor(private readonly consent: (url: URL) => Promise<URL>) {}

  clientInformation = () => this.stored.get('client') as never;
  saveClientInformation = (information: unknown): void => void this.stored.set('client', information);
  tokens = () => this.stored.get('tokens') as never;
  saveTokens = (tokens: unknown): void => void this.stored.set('tokens', tokens);
  saveCodeVerifier = (verifier: string): void => void this.stored.set('verifier', verifier);
  codeVerifier = () => this.stored.get('verifier') as string;
  discoveryState = () => this.stored.get('discovery') as never;
  saveDiscoveryState = (state: unknown): void => void this.stored.set('discovery', state);
  async redirectToAuthorization(url: URL): Promise<void> {
    this.answer = (await this.consent(url)).searchParams;
  }
}

interface SentRequests {
  /** The request without a token, whose 401 begins the discovery. */
  readonly first: RequestInit;
  readonly registered: Readonly<Record<string, unknown>>;
  readonly redirect: string;
  readonly state: string;
  /** Parameters of the token request and of the refresh that not every client sends. */
  readonly redeemed: readonly ('resource' | 'scope')[];
  readonly refreshed: readonly ('resource' | 'scope')[];
}

const JSON_TYPE = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const GRANT_TYPES = { grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] };
const PUBLIC = { token_endpoint_auth_method: 'none', scope: 'generate read approve' };

/**
 * What clients send. The first three were recorded; the fourth is that of
 * https://github.com/microsoft/vscode/blob/main/src/vs/base/common/oauth.ts and extHostAuthentication.ts, the fifth that of
 * https://developers.openai.com/apps-sdk/build/auth
 */
const SENT: Readonly<Record<string, SentRequests>> = {
  'Codex 0.171': {
    first: { method: 'GET', headers: { accept: '*/*', 'mcp-protocol-version': '2024-11-05' } },
    registered: {
      ...{ client_name: 'Codex', redirect_uris: ['http://127.0.0.1:42897/callback'] },
      ...{ ...GRANT_TYPES, ...PUBLIC, application_type: 'native' },
    },
    redirect: 'http://127.0.0.1:42897/callback',
    state: 'haqEnRt1BalgrN5JMsvwOg',
    redeemed: ['resource'],
    refreshed: ['scope', 'resource'],
  },
  'Claude Code 2.1': {
    first: {
      method: 'POST',
      headers: { ...JSON_TYPE, 'mcp-method': 'server/discover', 'mcp-protocol-version': '2026-07-28' },
      body: '{"jsonrpc":"2.0","id":"server-discover-probe-1","method":"server/discover","params":{}}',
    },
    registered: {
      ...{ client_name: 'Claude Code (shop)', redirect_uris: ['http://localhost:64944/callback'] },
      ...{ ...GRANT_TYPES, ...PUBLIC, application_type: 'native' },
    },
    redirect: 'http://localhost:64945/callback',
    state: 'Rp6JFpsIkBNvxVnX0b0WdL3YqGxe-uplzCTdhtTuTEE',
    redeemed: ['resource'],
    refreshed: ['resource'],
  },
  'Gemini CLI 0.61': {
    first: { method: 'HEAD', headers: { accept: 'application/json' } },
    registered: {
      ...{ client_name: 'Gemini CLI MCP Client', redirect_uris: ['http://localhost:37145/oauth/callback'] },
      ...{ ...GRANT_TYPES, ...PUBLIC },
    },
    redirect: 'http://localhost:37145/oauth/callback',
    state: '1Bb-wmLvTR2Gl6Za8PEjtA',
    redeemed: ['resource'],
    refreshed: ['resource'],
  },
  'VS Code': {
    first: {
      method: 'POST',
      headers: JSON_TYPE,
      body: '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"Visual Studio Code","version":"1.120.0"}}}',
    },
    registered: {
      ...{ client_name: 'Visual Studio Code', client_uri: 'https://code.visualstudio.com', ...GRANT_TYPES, ...PUBLIC },
      redirect_uris: [
        ...['https://insiders.vscode.dev/redirect', 'https://vscode.dev/redirect'],
        ...['http://127.0.0.1/', 'http://127.0.0.1:33418/'],
      ],
      application_type: 'native',
    },
    redirect: 'http://127.0.0.1:50123/',
    state: 'q+/8W1s0aXk2dYtJr0m5bA==',
    redeemed: [],
    refreshed: [],
  },
  ChatGPT: {
    first: { method: 'POST', headers: JSON_TYPE, body: '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}' },
    registered: {
      ...{ client_name: 'ChatGPT', redirect_uris: ['https://chatgpt.com/connector_platform_oauth_redirect'] },
      ...{ ...GRANT_TYPES, token_endpoint_auth_method: 'none' },
    },
    redirect: 'https://chatgpt.com/connector_platform_oauth_redirect',
    state: 'oauth_s_68e5b3a9f0c08191',
    redeemed: ['resource'],
    refreshed: ['resource'],
  },
};

describe('Signing in to a Meteor app over MCP', () => {
  const itInTime = suiteInVirtualTime();
  let app: MeteorApp;
  let url: string;
  const absoluteUrl = Meteor.absoluteUrl.bind(Meteor);

  before(async () => {
    globals.Package = { ddp: { DDP }, check: { check, Match } };
    exposeMethods({ include: ['whoami'] });
    app = await startMeteorApp(
      {},
      {
        onReset: async () => {
          Meteor.methods({
            whoami(this: { readonly userId: string | null }) {
              return this.userId;
            },
          });
          WebApp.httpServer.listen(0, '127.0.0.1');
          await once(WebApp.httpServer, 'listening');
          url = `http://127.0.0.1:${(WebApp.httpServer.address() as AddressInfo).port}`;
          Meteor.absoluteUrl = (path?: string) => `${url}/${path ?? ''}`;
        },
      },
    );
    for (const person of ['ann', 'bob', 'cat']) {
      const loginTokens = [{ hashedToken: Accounts._hashLoginToken(`login-of-${person}`), when: new Date() }];
      await Meteor.users.updateAsync({ _id: person }, { $set: { services: { resume: { loginTokens } } } });
    }
  });

  after(async () => {
    await app.stop();
    Meteor.absoluteUrl = absoluteUrl;
    exposures.length = 0;
    delete globals.Package;
  });

  const post = async (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> => {
    const isForm = body instanceof URLSearchParams;
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'content-type': isForm ? 'application/x-www-form-urlencoded' : 'application/json', ...headers },
      body: isForm ? body : JSON.stringify(body),
    });
    const text = await response.text();
    return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Answer['body'] };
  };
  const asUser = (person: string): Record<string, string> => ({ authorization: `Bearer login-of-${person}` });
  /** What the page of the consent does when its button is pressed. */
  const decide = (query: string, person: Person, decision = 'approve'): Promise<Answer> =>
    post('/oauth/authorize', { query, decision }, asUser(person));
  const consent =
    (person: Person) =>
    async (asked: URL): Promise<URL> => {
      const page = await fetch(asked);
      expect(page.status).to.equal(200);
      expect(await page.text()).to.include('Test editor');
      return new URL((await decide(asked.search.slice(1), person)).body['location'] as string);
    };
  const connectAs = async (
    person: Person,
  ): Promise<{ readonly client: Client; readonly provider: ConsentingProvider }> => {
    const provider = new ConsentingProvider(consent(person));
    const transport = (): StreamableHTTPClientTransport =>
      new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { authProvider: provider });
    const client = new Client({ name: 'test', version: '1' });
    const first = transport();
    await failure(client.connect(first));
    await first.finishAuth(provider.answer);
    await client.connect(transport());
    return { client, provider };
  };
  const register = async (redirects: readonly string[] = [CALLBACK]): Promise<string> =>
    (await post('/oauth/register', { client_name: 'Editor', redirect_uris: redirects })).body['client_id'] as string;
  const query = (clientId: string, changes: Readonly<Record<string, string | undefined>> = {}): string => {
    const all: Readonly<Record<string, string | undefined>> = {
      ...{ response_type: 'code', client_id: clientId, redirect_uri: CALLBACK, state: 's' },
      ...{ code_challenge: CHALLENGE, code_challenge_method: 'S256', resource: `${url}/mcp`, ...changes },
    };
    return new URLSearchParams(
      Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ).toString();
  };
  const codeOf = async (clientId: string, person: Person = 'bob'): Promise<string> => {
    const { body } = await decide(query(clientId), person);
    return new URL(body['location'] as string).searchParams.get('code') ?? '';
  };
  const redeem = (clientId: string, code: string, changes: Readonly<Record<string, string>> = {}): Promise<Answer> =>
    post(
      '/oauth/token',
      new URLSearchParams({
        ...{ grant_type: 'authorization_code', client_id: clientId, code, redirect_uri: CALLBACK },
        ...{ code_verifier: VERIFIER, resource: `${url}/mcp`, ...changes },
      }),
    );
  const refresh = (clientId: string, token: string): Promise<Answer> =>
    post(
      '/oauth/token',
      new URLSearchParams({ grant_type: 'refresh_token', client_id: clientId, refresh_token: token }),
    );
  const tokensFor = async (clientId: string, person: Person = 'bob'): Promise<Tokens> =>
    (await redeem(clientId, await codeOf(clientId, person))).body as unknown as Tokens;
  const statusAt = async (path: string, token: string): Promise<number> =>
    (await fetch(url + path, { headers: { authorization: `Bearer ${token}`, accept: 'application/json' } })).status;
  const mcpStatus = async (token: string): Promise<number> => {
    const { status } = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
    });
    return status;
  };

  itInTime('connects the official client as the user who consents, and each user as themselves', async () => {
    const [bob, cat] = [await connectAs('bob'), await connectAs('cat')];
    const answers = await Promise.all(
      Array.from({ length: 10 }, async (_, index) => {
        const [person, { client }] = index % 2 === 0 ? ['bob', bob] : ['cat', cat];
        const { content } = await client.callTool({ name: 'whoami' });
        return (content as readonly { readonly text: string }[])[0]?.text === person;
      }),
    );
    expect(answers).to.deep.equal(Array.from({ length: 10 }, () => true));
    expect((await bob.client.listTools()).tools.map(({ name }) => name)).to.deep.equal(['whoami']);
    await Promise.all([bob.client.close(), cat.client.close()]);
  });

  itInTime('lets the official client refresh, and ends with the revocation by the user', async (time) => {
    const { client, provider } = await connectAs('cat');
    const before = provider.tokens() as Tokens;
    time.suspend(2 * 3_600_000);
    await client.callTool({ name: 'whoami' });
    const after = provider.tokens() as Tokens;
    expect(after.access_token).not.to.equal(before.access_token);
    const { body } = await post('/oauth/grants', {}, asUser('cat'));
    const grants = body['grants'] as readonly { readonly id: string; readonly name: string; readonly client: string }[];
    expect(grants[0]).to.include({ name: 'Test editor', client: 'this computer' });
    // Nobody else's.
    await post('/oauth/grants', { revoke: grants[0]!.id }, asUser('bob'));
    expect(await mcpStatus(after.access_token)).not.to.equal(401);
    for (const { id } of grants) await post('/oauth/grants', { revoke: id }, asUser('cat'));
    expect(await mcpStatus(after.access_token)).to.equal(401);
    await client.close();
  });

  for (const [name, sent] of Object.entries(SENT))
    itInTime(`takes the requests of ${name}`, async (time) => {
      const first = await fetch(`${url}/mcp`, sent.first);
      expect(first.status).to.equal(401);
      const [, metadataUrl = ''] =
        /resource_metadata="([^"]+)"/.exec(first.headers.get('www-authenticate') ?? '') ?? [];
      const { resource, scopes_supported: scopes } = (await (await fetch(metadataUrl)).json()) as {
        readonly resource: string;
        readonly scopes_supported: readonly string[];
      };
      // VS Code refuses another resource than the address that it was given.
      expect(resource).to.equal(`${url}/mcp`);
      const { body: client } = await post('/oauth/register', sent.registered);
      const clientId = client['client_id'] as string;
      const optional = { resource, scope: scopes.join(' ') };
      const chosen = (names: SentRequests['redeemed']): Readonly<Record<string, string>> =>
        Object.fromEntries(names.map((each) => [each, optional[each]]));
      const asked = { redirect_uri: sent.redirect, state: sent.state, ...optional };
      const { body } = await decide(query(clientId, asked), 'bob');
      const back = new URL(body['location'] as string);
      expect(back.href.startsWith(`${sent.redirect}?`)).to.equal(true);
      // The stable redirect address of ChatGPT demands the issuer.
      expect(Object.fromEntries(back.searchParams)).to.include({ state: sent.state, iss: url });
      // VS Code sends the code as it stands in the address.
      const [, code = ''] = /[?&]code=([^&]+)/.exec(back.search) ?? [];
      const form = (fields: Readonly<Record<string, string>>): Promise<Answer> =>
        post('/oauth/token', new URLSearchParams({ client_id: clientId, ...fields }));
      const { body: issued } = await form({
        ...{ grant_type: 'authorization_code', code, redirect_uri: sent.redirect, code_verifier: VERIFIER },
        ...chosen(sent.redeemed),
      });
      expect(issued).to.include({ token_type: 'Bearer', scope: optional.scope });
      time.suspend(2 * 3_600_000);
      const { body: again } = await form({
        ...{ grant_type: 'refresh_token', refresh_token: issued['refresh_token'] as string },
        ...chosen(sent.refreshed),
      });
      expect(await mcpStatus(again['access_token'] as string)).to.equal(200);
    });

  itInTime('says in its metadata what it does', async () => {
    const challenged = await fetch(`${url}/mcp`, { method: 'POST' });
    expect(challenged.status).to.equal(401);
    expect(challenged.headers.get('www-authenticate')).to.include('scope="generate read approve"');
    const resource = (await (await fetch(`${url}/.well-known/oauth-protected-resource/mcp`)).json()) as object;
    expect(resource).to.deep.include({
      resource: `${url}/mcp`,
      resource_name: new URL(url).host,
      authorization_servers: [url],
    });
    const metadata = (await (await fetch(`${url}/.well-known/oauth-authorization-server`)).json()) as object;
    expect(metadata).to.deep.include({
      issuer: url,
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
    });
  });

  itInTime('registers no addresses but those of web sites, of the machine, and of apps', async () => {
    const refused = [
      'http://evil.example/cb',
      'javascript:alert(1)',
      'data:text/html,x',
      'https://a.example/#x',
      'https://u:p@a.example/',
      '/cb',
      '',
    ];
    for (const uri of refused) {
      const answer = await post('/oauth/register', { redirect_uris: [uri] });
      expect([answer.status, answer.body['error']], uri).to.deep.equal([400, 'invalid_redirect_uri']);
    }
    for (const uri of [
      'https://chatgpt.com/connector/oauth/1',
      'http://localhost:1/cb',
      'cursor://anysphere.cursor-mcp/cb',
    ])
      expect(await register([uri]), uri).to.be.a('string');
    expect((await post('/oauth/register', { redirect_uris: [] })).status).to.equal(400);
    expect((await post('/oauth/register', { redirect_uris: [CALLBACK], client_name: 7 })).status).to.equal(400);
  });

  itInTime('shows no page for an unknown client or address, and reports other faults to the client', async () => {
    const clientId = await register();
    const at = (changes: Readonly<Record<string, string | undefined>>): Promise<Response> =>
      fetch(`${url}/oauth/authorize?${query(clientId, changes)}`, { redirect: 'manual' });
    for (const changes of [
      { client_id: 'x' },
      { redirect_uri: 'http://127.0.0.1:9876/other' },
      { redirect_uri: undefined },
    ]) {
      const response = await at(changes);
      if (changes.client_id !== undefined)
        expect(await response.text()).to.include('Remove the connection in the client, and add it again.');
      expect([response.status, response.headers.get('location')], JSON.stringify(changes)).to.deep.equal([400, null]);
    }
    for (const [changes, error] of [
      [{ response_type: 'token' }, 'unsupported_response_type'],
      [{ code_challenge: undefined }, 'invalid_request'],
      [{ code_challenge_method: 'plain' }, 'invalid_request'],
      [{ resource: 'https://other.example/mcp' }, 'invalid_target'],
    ] as const) {
      const back = new URL((await at(changes)).headers.get('location') ?? '');
      expect(back.origin + back.pathname).to.equal(CALLBACK);
      expect(Object.fromEntries(back.searchParams)).to.include({ error, state: 's', iss: url });
    }
    // Programs choose a port anew each time.
    expect((await at({ redirect_uri: 'http://127.0.0.1:4321/callback' })).status).to.equal(200);
    const page = await at({});
    expect(page.headers.get('content-security-policy')).to.include("frame-ancestors 'none'");
  });

  itInTime("shows a client's name as text", async () => {
    const { body } = await post('/oauth/register', {
      client_name: '<img src=x onerror=alert(1)>',
      redirect_uris: [CALLBACK],
    });
    const page = await (await fetch(`${url}/oauth/authorize?${query(body['client_id'] as string)}`)).text();
    expect(page).not.to.include('<img');
  });

  itInTime('takes the consent of signed-in users only', async () => {
    const clientId = await register();
    const { access_token: grant } = await tokensFor(clientId);
    const { token } = (await app.call('bob', 'ai.tokens.create', {
      name: 't',
      scopes: ['generate', 'read', 'approve'],
    })) as {
      readonly token: string;
    };
    for (const authorization of ['', 'Bearer wrong', `Bearer ${grant}`, `Bearer ${token}`]) {
      const answer = await post('/oauth/authorize', { query: query(clientId), decision: 'approve' }, { authorization });
      expect(answer.status, authorization).to.equal(401);
      expect((await post('/oauth/grants', {}, { authorization })).status, authorization).to.equal(401);
    }
    const denied = new URL((await decide(query(clientId), 'bob', 'deny')).body['location'] as string);
    expect(Object.fromEntries(denied.searchParams)).to.include({ error: 'access_denied', state: 's' });
    expect((await decide(query(clientId), 'bob', 'who')).body).to.deep.equal({ name: 'bob' });
    await Meteor.users.updateAsync(
      { _id: 'bob' },
      { $set: { emails: [{ address: 'bob@a.example', verified: false }] } },
    );
    expect((await decide(query(clientId), 'bob', 'who')).body).to.deep.equal({ name: 'bob@a.example' });
  });

  itInTime('redeems a code once, for its client, its address and its verifier, within a minute', async (time) => {
    const [clientId, other] = [await register(), await register(['https://other.example/cb'])];
    for (const [changes, id] of [
      [{ code_verifier: 'x'.repeat(43) }, clientId],
      [{ redirect_uri: 'http://127.0.0.1:1/callback' }, clientId],
      [{}, other],
    ] as const) {
      const answer = await redeem(id, await codeOf(clientId), changes);
      expect([answer.status, answer.body['error']]).to.deep.equal([400, 'invalid_grant']);
    }
    const wrongTarget = await redeem(clientId, await codeOf(clientId), { resource: 'https://other.example/mcp' });
    expect(wrongTarget.body['error']).to.equal('invalid_target');
    const code = await codeOf(clientId);
    const { body } = await redeem(clientId, code);
    expect(await mcpStatus(body['access_token'] as string)).not.to.equal(401);
    expect((await redeem(clientId, code)).body['error']).to.equal('invalid_grant');
    // Somebody else has had the code.
    expect(await mcpStatus(body['access_token'] as string)).to.equal(401);
    const late = await codeOf(clientId);
    time.suspend(61_000);
    expect((await redeem(clientId, late)).body['error']).to.equal('invalid_grant');
  });

  itInTime('revokes a grant whose refresh token is used twice, and forgets one that is not used', async (time) => {
    const clientId = await register();
    const first = await tokensFor(clientId);
    expect((await refresh(await register(['https://other.example/cb']), first.refresh_token)).body['error']).to.equal(
      'invalid_grant',
    );
    time.suspend(60_000);
    const second = (await refresh(clientId, first.refresh_token)).body as unknown as Tokens;
    expect(await mcpStatus(second.access_token)).not.to.equal(401);
    // An answer that was lost is asked for again at once.
    expect((await refresh(clientId, first.refresh_token)).status).to.equal(200);
    time.suspend(60_000);
    expect((await refresh(clientId, first.refresh_token)).body['error']).to.equal('invalid_grant');
    expect(await mcpStatus(second.access_token)).to.equal(401);
    const unused = await tokensFor(clientId);
    time.suspend(91 * DAY_MS);
    await renewLogins();
    expect((await refresh(clientId, unused.refresh_token)).body['error']).to.equal('invalid_grant');
  });

  const renewLogins = async (): Promise<void> => {
    for (const person of ['ann', 'bob', 'cat'])
      await Meteor.users.updateAsync(
        { _id: person },
        {
          $set: {
            'services.resume.loginTokens': [
              { hashedToken: Accounts._hashLoginToken(`login-of-${person}`), when: new Date() },
            ],
          },
        },
      );
  };

  itInTime('revokes by either token, and answers alike for any other', async () => {
    const clientId = await register();
    for (const kind of ['access_token', 'refresh_token'] as const) {
      const tokens = await tokensFor(clientId);
      const revoke = (token: string): Promise<Answer> =>
        post('/oauth/revoke', new URLSearchParams({ token, client_id: clientId }));
      expect((await revoke('mcp_unknown')).status).to.equal(200);
      expect(await mcpStatus(tokens.access_token)).not.to.equal(401);
      expect((await revoke(tokens[kind])).status).to.equal(200);
      expect(await mcpStatus(tokens.access_token)).to.equal(401);
      expect((await refresh(clientId, tokens.refresh_token)).body['error']).to.equal('invalid_grant');
    }
  });

  itInTime('issues tokens that are valid at /mcp and nowhere else, without rights of admins', async () => {
    const clientId = await register();
    const { access_token: token, scope } = await tokensFor(clientId, 'ann');
    expect(scope).to.equal('generate read approve');
    expect(await mcpStatus(token)).not.to.equal(401);
    for (const path of ['/v1/models', '/runs', '/api/tokens', '/api/runs'])
      expect(await statusAt(path, token), path).to.equal(401);
    await Meteor.users.removeAsync({ _id: 'ann' });
    expect(await mcpStatus(token)).to.equal(401);
    await Meteor.users.insertAsync({ _id: 'ann' });
  });

  it('says it at the root of the host, too, where the API is below a path', async () => {
    await app.host.close();
    resetMeteor();
    resetWebApp();
    Meteor.methods({ whoami: () => 'nobody' });
    const host = await startBolide({ ...METEOR_PACKAGES, simulates: false, httpPath: '/ai' });
    WebApp.httpServer.listen(0, '127.0.0.1');
    await once(WebApp.httpServer, 'listening');
    const origin = `http://127.0.0.1:${(WebApp.httpServer.address() as AddressInfo).port}`;
    for (const path of ['/.well-known/oauth-authorization-server/ai', '/.well-known/oauth-protected-resource/ai/mcp']) {
      const metadata = await (await fetch(origin + path)).text();
      expect(metadata, path).to.match(/"(?:issuer|resource)":"[^"]*\/ai/);
    }
    await host.close();
  });
});
