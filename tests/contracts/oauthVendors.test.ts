/**
 * Each known kind of account, from the admin's settings to a vendor's response: connected, used and disconnected in
 * the form that its vendor requires.
 */
import { expect } from 'chai';
import type { Actor } from '../../imports/business/ai/domain/types/Actor';
import type { RunningServer } from '../../imports/host/node/startServer';
import { CANARY } from '../support/canaries';
import { CookieBrowser } from '../support/oauth/CookieBrowser';
import { startStandalone } from '../support/startStandalone';
import { json, TestHost } from '../support/TestHost';
import type { SeenRequest } from '../support/TestHost';

const LOCAL: Actor = { userId: 'local', isAdmin: true, source: 'http' };
/** Issued by the stand-in, so it contains no canary: servers are checked for those. */
const TOKEN = 'an-access-token-of-the-stand-in';
const SECRET = `client-${CANARY}`;

interface Case {
  readonly name: string;
  readonly provider: (url: string) => Record<string, unknown>;
  /** Expected parameters of the authorization URL; absent if no browser is needed. */
  readonly authorization?: Readonly<Record<string, string>>;
  /** Expected fields of the first token request. */
  readonly token: Readonly<Record<string, string>>;
  readonly expectedRequest: { readonly path: RegExp; readonly headers: Readonly<Record<string, string | undefined>> };
  readonly isRevoked?: boolean;
}

const CASES: readonly Case[] = [
  {
    name: 'Gemini with a Google account',
    provider: (url) => ({
      vendor: 'google',
      baseURL: url,
      defaultModel: 'gemini-2.5-flash',
      auth: { kind: 'oauth_user', server: 'google', issuer: url, clientId: 'an-id', clientSecret: SECRET },
    }),
    authorization: {
      access_type: 'offline',
      prompt: 'consent',
      scope:
        'https://www.googleapis.com/auth/cloud-platform https://www.googleapis.com/auth/generative-language.retriever',
    },
    token: { grant_type: 'authorization_code', client_id: 'an-id', client_secret: SECRET },
    expectedRequest: {
      path: /models\/gemini-2\.5-flash:generateContent$/,
      headers: { authorization: `Bearer ${TOKEN}`, 'x-goog-api-key': undefined },
    },
  },
  {
    name: 'Azure OpenAI with an Entra account',
    provider: (url) => ({
      ...AZURE,
      baseURL: url,
      auth: {
        kind: 'oauth_user',
        server: 'azure',
        issuer: `${url}/a-tenant/v2.0`,
        clientId: 'an-id',
        clientSecret: SECRET,
      },
    }),
    authorization: { scope: 'https://cognitiveservices.azure.com/.default offline_access' },
    token: { grant_type: 'authorization_code', client_secret: SECRET },
    expectedRequest: {
      path: /^\/openai\/v1\/chat\/completions/,
      headers: { authorization: `Bearer ${TOKEN}`, 'api-key': undefined },
    },
  },
  {
    name: 'Azure OpenAI with the app’s own Entra credentials',
    provider: (url) => ({
      ...AZURE,
      baseURL: url,
      auth: {
        kind: 'oauth_app',
        server: 'azure',
        issuer: `${url}/a-tenant/v2.0`,
        clientId: 'an-id',
        clientSecret: SECRET,
      },
    }),
    token: {
      grant_type: 'client_credentials',
      scope: 'https://cognitiveservices.azure.com/.default',
      client_secret: SECRET,
    },
    expectedRequest: {
      path: /^\/openai\/v1\/chat\/completions/,
      headers: { authorization: `Bearer ${TOKEN}`, 'api-key': undefined },
    },
  },
  {
    name: 'a vendor that exchanges a code for a key, as OpenRouter does',
    provider: (url) => ({
      vendor: 'openai_compatible',
      baseURL: `${url}/api/v1`,
      defaultModel: 'm',
      auth: {
        kind: 'oauth_user',
        server: 'openrouter',
        issuer: url,
        authorizationEndpoint: `${url}/authorize`,
        tokenEndpoint: `${url}/api/v1/auth/keys`,
      },
    }),
    authorization: { code_challenge_method: 'S256' },
    token: { code: 'the-code', code_challenge_method: 'S256' },
    expectedRequest: { path: /^\/api\/v1\/chat\/completions$/, headers: { authorization: `Bearer ${TOKEN}` } },
  },
  {
    name: 'any vendor behind an OAuth 2.1 server',
    provider: (url) => ({
      vendor: 'openai_compatible',
      baseURL: `${url}/v1`,
      defaultModel: 'm',
      auth: {
        kind: 'oauth_user',
        issuer: url,
        clientId: 'an-id',
        clientSecret: SECRET,
        clientAuthentication: 'client_secret_post',
        scopes: ['llm'],
        resources: [`${url}/v1`],
      },
    }),
    authorization: { scope: 'llm', response_type: 'code' },
    token: { grant_type: 'authorization_code', client_id: 'an-id', client_secret: SECRET },
    expectedRequest: { path: /^\/v1\/chat\/completions$/, headers: { authorization: `Bearer ${TOKEN}` } },
    isRevoked: true,
  },
];

const AZURE = { vendor: 'azure_openai', deployment: 'a-deployment', wire: 'chat_completions' } as const;

describe('accounts at each known server', () => {
  let host: TestHost;
  let server: RunningServer;
  before(async () => {
    host = await TestHost.start((response, request) => play(host.url, request)(response, request));
    server = await startStandalone({ AI_ALLOW_PRIVATE_HOSTS: 'true' });
  });
  after(async () => {
    await server.close();
    await host.stop();
  });

  CASES.forEach(({ name, provider, authorization, token, expectedRequest, isRevoked = false }, index) => {
    it(`${name}: connects, is used and disconnects`, async () => {
      const providerId = `p${index}`;
      const { operations } = server.host;
      await operations['ai.providers.create'](LOCAL, { providerId, name, ...provider(host.url) });
      const before = host.requests.length;
      const seen = (path: RegExp): SeenRequest | undefined =>
        host.requests.slice(before).find((request) => path.test(request.path));
      if (authorization !== undefined) {
        const browser = new CookieBrowser();
        const page = await browser.submit(
          await browser.open(await operations['ai.providers.connect'](LOCAL, { providerId })),
          {},
        );
        expect(page.body).to.include('is connected');
        const query = new URL(seen(/^\/authorize\?/)?.path ?? '', host.url).searchParams;
        for (const [parameter, value] of Object.entries(authorization))
          expect(query.get(parameter), parameter).to.equal(value);
        expect(query.get('code_challenge')).to.match(/^[\w-]{43}$/);
      }
      const answer = await server.host.module.manager.generate('local', { model: providerId, input: 'Hello' });
      expect(answer.output_text).to.equal('Hello from the vendor');
      const body = fieldsOf(seen(/^\/token$|\/auth\/keys$/)?.body ?? '');
      for (const [field, value] of Object.entries(token)) expect(body.get(field), field).to.equal(value);
      const call = seen(expectedRequest.path);
      for (const [header, value] of Object.entries(expectedRequest.headers))
        expect(call?.headers[header], header).to.equal(value);
      if (authorization === undefined) return;
      await operations['ai.providers.disconnect'](LOCAL, { providerId });
      expect(seen(/^\/revoke$/) !== undefined).to.equal(isRevoked);
      expect((await operations['ai.providers.list'](LOCAL)).find(({ _id }) => _id === providerId)).to.include({
        connected: false,
      });
    });
  });
});

/** Acts as the authorization server and as every vendor. */
function play(url: string, request: SeenRequest): ReturnType<typeof json> {
  const { pathname, searchParams } = new URL(request.path, url);
  if (pathname.includes('/.well-known/')) return json(metadata(url, pathname));
  if (pathname === '/authorize') return redirect(searchParams);
  if (pathname === '/token')
    return json({ access_token: TOKEN, token_type: 'Bearer', expires_in: 3_600, refresh_token: 'a-refresh-token' });
  if (pathname === '/api/v1/auth/keys') return json({ key: TOKEN });
  if (pathname === '/revoke') return json({});
  return json(pathname.endsWith(':generateContent') ? GEMINI_ANSWER : CHAT_ANSWER);
}

/** OpenID appends the well-known path to the issuer, OAuth inserts it. Only the OAuth document has revocation. */
function metadata(url: string, pathname: string): object {
  const isOpenId = pathname.endsWith('/openid-configuration');
  const issuer = url + (isOpenId ? pathname.replace('/.well-known/openid-configuration', '') : '');
  const endpoints = {
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    ...(isOpenId ? {} : { revocation_endpoint: `${url}/revoke` }),
  };
  return { issuer, ...endpoints, code_challenge_methods_supported: ['S256'], response_types_supported: ['code'] };
}

function redirect(query: URLSearchParams): ReturnType<typeof json> {
  const back = new URL(query.get('redirect_uri') ?? query.get('callback_url') ?? '');
  back.searchParams.set('code', 'the-code');
  const state = query.get('state');
  if (state !== null) back.searchParams.set('state', state);
  return (response) => response.writeHead(302, { location: back.href }).end();
}

function fieldsOf(body: string): Map<string, string> {
  return new Map(
    body.startsWith('{') ? Object.entries(JSON.parse(body) as Record<string, string>) : new URLSearchParams(body),
  );
}

const GEMINI_ANSWER = {
  candidates: [
    { content: { role: 'model', parts: [{ text: 'Hello from the vendor' }] }, finishReason: 'STOP', index: 0 },
  ],
  usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 6, totalTokenCount: 11 },
  modelVersion: 'gemini-2.5-flash',
  responseId: 'r1',
};
const CHAT_ANSWER = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello from the vendor' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 6, total_tokens: 11 },
};
