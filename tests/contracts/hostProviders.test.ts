/** The plain-Node host, with providers that are created, connected, used, changed and removed while it runs. */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { LLMAuthError, LLMPermissionError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { Actor } from '../../imports/business/ai/domain/types/Actor';
import { startDemoServer } from '../support/startDemoServer';
import type { RunningServer } from '../../imports/host/node/startServer';
import { CANARY } from '../support/canaries';
import { failure } from '../support/failure';
import { TestAuthorizationServer } from '../support/oauth/TestAuthorizationServer';
import { providerArgument } from '../support/oauth/connectedProvider';
import { CookieBrowser } from '../support/oauth/CookieBrowser';
import { newKey } from '../support/oauth/ProvidersHost';
import { json, TestHost } from '../support/TestHost';
import { startStandalone } from '../support/startStandalone';
import { inFlowingTime } from '../support/VirtualTime';

const LOCAL_TOKEN = `${CANARY}-of-local-use`;
const KEY = `sk-${CANARY}-of-mine`;
const LOCAL: Actor = { userId: 'local', isAdmin: true, source: 'http' };
const ACTOR: Actor = { userId: 'local', isAdmin: true, source: 'http' };
const MALLORY: Actor = { userId: 'mallory', isAdmin: true, source: 'http' };

describe(
  'the plain-Node host',
  inFlowingTime(() => {
    let vendor: TestHost;
    let directory: string;
    let server: RunningServer;
    /** Keys and tokens that the vendor rejects from now on. */
    let refused: string[];

    beforeEach(async () => {
      refused = [];
      vendor = await TestHost.start((response, { headers }) => {
        const token = headers.authorization?.replace('Bearer ', '') ?? '';
        if (refused.includes(token))
          json({ error: { message: 'no such token' } }, 401)(response, vendor.requests.at(-1)!);
        else json(COMPLETION)(response, vendor.requests.at(-1)!);
      });
      directory = await mkdtemp(join(tmpdir(), 'bolide-host-'));
      server = await start();
    });
    afterEach(async () => {
      await server.close();
      await vendor.stop();
      await rm(directory, { recursive: true });
    });

    const start = (env = {}): Promise<RunningServer> =>
      startDemoServer({
        PORT: '0',
        DATA_DIR: directory,
        AI_ALLOW_PRIVATE_HOSTS: 'true',
        BOLIDE_API_TOKEN: LOCAL_TOKEN,
        ...env,
      });
    const ask = async (
      model: string,
      token = LOCAL_TOKEN,
    ): Promise<{ readonly status: number; readonly text: string }> => {
      const response = await fetch(`${server.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
      });
      return { status: response.status, text: await response.text() };
    };
    const shared = (more = {}): Promise<unknown> =>
      server.host.operations['ai.providers.create'](LOCAL, {
        providerId: 'mine',
        name: 'Mine',
        vendor: 'openai_compatible',
        baseURL: `${vendor.url}/v1`,
        auth: { kind: 'api_key' },
        apiKey: KEY,
        defaultModel: 'm',
        ...more,
      });
    const tokensShown = (): readonly (string | undefined)[] =>
      vendor.requests.map(({ headers }) => headers.authorization?.replace('Bearer ', ''));

    it('routes to a provider as soon as it is created, and to its new address when that changes', async () => {
      expect((await ask('mine/m')).status, 'not yet made').to.equal(404);
      await shared();
      expect(await ask('mine/m'))
        .to.have.property('text')
        .that.includes('Hello from the vendor');
      expect(tokensShown()).to.deep.equal([KEY]);
      const elsewhere = await TestHost.start(json(COMPLETION));
      try {
        await server.host.operations['ai.providers.update'](LOCAL, {
          providerId: 'mine',
          baseURL: `${elsewhere.url}/v1`,
        });
        await ask('mine');
        await server.host.operations['ai.providers.setApiKey'](LOCAL, {
          providerId: 'mine',
          apiKey: 'sk-for-elsewhere',
        });
        expect((await ask('mine')).status).to.equal(200);
        const shown = elsewhere.requests.map(({ headers }) => headers.authorization);
        expect(shown, 'the key that was given for the old address stays there').to.deep.equal([
          undefined,
          'Bearer sk-for-elsewhere',
        ]);
      } finally {
        await elsewhere.stop();
      }
      await server.host.operations['ai.providers.update'](LOCAL, { providerId: 'mine', enabled: false });
      expect((await ask('mine')).status, 'switched off').to.equal(404);
      expect(vendor.requests).to.have.length(1);
    });

    it('is administered over HTTP only by tokens with the scope', async () => {
      const tokenOf = async (scopes: readonly ('generate' | 'read' | 'admin')[]): Promise<string> =>
        (await server.host.apiTokens.tokens.issue({ userId: 'ann', name: 'a test', scopes })).token;
      const [admin, user] = [LOCAL_TOKEN, await tokenOf(['generate', 'read'])];
      const send = async (
        method: string,
        path: string,
        body?: object,
        token = admin,
      ): Promise<readonly [status: number, body: Record<string, unknown>]> => {
        const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
        const response = await fetch(server.url + path, {
          method,
          headers,
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        });
        return [response.status, (await response.json()) as Record<string, unknown>];
      };
      const row = {
        providerId: 'own',
        name: 'Own',
        vendor: 'openai_compatible',
        baseURL: `${vendor.url}/v1`,
        auth: { kind: 'user_api_key' },
        access: 'everyone',
        defaultModel: 'm',
      };
      for (const [method, path, body] of [
        ['POST', '/api/providers', row],
        ['POST', '/api/providers/own', { name: 'X' }],
        ['DELETE', '/api/providers/own'],
        ['POST', '/api/providers/own/api-key', { apiKey: KEY }],
        ['POST', '/api/secrets/rotate'],
      ] as const) {
        expect((await send(method, path, body, user))[0], `${method} ${path}`).to.equal(403);
      }
      expect(await send('POST', '/api/providers', row)).to.deep.equal([
        201,
        {
          provider: {
            _id: 'own',
            name: 'Own',
            vendor: 'openai_compatible',
            auth: { kind: 'user_api_key' },
            defaultModel: 'm',
            connected: false,
            needsReconnect: false,
            enabled: true,
          },
        },
      ]);
      expect((await send('POST', '/api/providers', { ...row, baseURL: 'nowhere' }))[0]).to.equal(400);
      expect((await send('POST', '/api/providers/own/my-api-key', { apiKey: KEY }, user))[1]).to.have.nested.property(
        'provider.connected',
        true,
      );
      expect(
        (await send('POST', '/api/providers/own', { name: 'Renamed', providerId: 'openai' }))[1],
      ).to.have.nested.property('provider.name', 'Renamed');
      expect((await send('POST', '/api/providers/own/test', undefined, user))[0]).to.equal(200);
      expect(await send('POST', '/api/secrets/rotate')).to.deep.equal([200, { resealed: 0, unopened: 0 }]);
      expect((await send('DELETE', '/api/providers/own'))[0]).to.equal(200);
      expect((await send('POST', '/api/providers/own/test', undefined, user))[0]).to.equal(403);
    });

    it('lists configured and stored providers alike, and lets no one change configured ones', async () => {
      await shared();
      const views = await server.host.operations['ai.providers.list'](LOCAL);
      expect(views.map(({ _id, connected }) => [_id, connected])).to.deep.include.members([
        ['mine', true],
        ['openai', true],
        ['anthropic', true],
      ]);
      const models = (await (
        await fetch(`${server.url}/v1/models`, { headers: { authorization: `Bearer ${LOCAL_TOKEN}` } })
      ).json()) as { data: { id: string }[] };
      expect(models.data.map(({ id }) => id)).to.include.members([
        'mine/m',
        'openai/gpt-5-mini',
        'anthropic/claude-sonnet-5-5',
      ]);
      for (const change of [
        server.host.operations['ai.providers.update'](LOCAL, {
          providerId: 'openai',
          baseURL: 'http://127.0.0.1:1/v1',
        }),
        server.host.operations['ai.providers.setApiKey'](LOCAL, { providerId: 'openai', apiKey: 'sk-x' }),
        server.host.operations['ai.providers.remove'](LOCAL, { providerId: 'openai' }),
        shared({ providerId: 'openai' }),
      ]) {
        expect(await failure(change))
          .to.have.property('message')
          .that.matches(/server's settings/);
      }
      expect((await ask('openai')).status).to.equal(200);
    });

    it('rejects users on every API unless a rule allows them, and lets only the application define admins', async () => {
      await shared();
      const request = { requestId: 'r1', providerId: 'mine', input: 'Hello' };
      for (const providerId of ['mine', 'openai']) {
        expect(
          await failure(server.host.module.useCases.generateText.execute(MALLORY, { ...request, providerId })),
        ).to.be.instanceOf(LLMPermissionError);
      }
      expect(
        await failure(server.host.module.manager.generate('mallory', { model: 'mine', input: 'Hello' })),
      ).to.be.instanceOf(LLMPermissionError);
      expect(await server.host.module.useCases.generateText.execute(ACTOR, request)).to.equal('Hello from the vendor');
      expect(vendor.requests).to.have.length(1);
    });

    it("lets the server's jobs use configured accounts, and other accounts only on behalf of an allowed user", async () => {
      await shared();
      const { generateText } = server.host.module.useCases;
      const job: Actor = { userId: 'nightly', source: 'job' };
      expect(await generateText.execute(job, { requestId: 'r1', providerId: 'openai', input: 'Hello' })).to.be.a(
        'string',
      );
      expect(
        await failure(generateText.execute(job, { requestId: 'r2', providerId: 'mine', input: 'Hello' })),
      ).to.be.instanceOf(LLMPermissionError);
      expect(
        await generateText.execute(
          { ...job, userId: 'local' },
          { requestId: 'r3', providerId: 'mine', input: 'Hello' },
        ),
      ).to.equal('Hello from the vendor');
    });

    it('requests only listed models, through every API', async () => {
      await shared({ allowedModels: ['m'] });
      const { generateText } = server.host.module.useCases;
      const request = { requestId: 'r1', providerId: 'mine', input: 'Hello' };
      expect(await failure(generateText.execute(ACTOR, { ...request, model: 'other' })))
        .to.be.instanceOf(LLMPermissionError)
        .with.property('message')
        .that.includes('use the model "other"');
      expect((await ask('mine/other')).status).to.equal(404);
      expect((await ask('mine/m')).status).to.equal(200);
    });

    it("counts usage against the user's limit", async () => {
      await shared({ limits: { windowMs: 3_600_000, tokens: COMPLETION.usage.total_tokens + 1 } });
      expect((await ask('mine')).status, 'the first call leaves one token').to.equal(200);
      expect((await ask('mine')).status, 'which the second takes').to.equal(200);
      expect((await ask('mine')).status).to.equal(429);
      expect(vendor.requests).to.have.length(2);
    });

    const startOAuth = async (): Promise<TestAuthorizationServer> => {
      const oauth = await TestAuthorizationServer.start({ redirectUris: [`${server.url}/oauth/callback`] });
      await server.host.operations['ai.providers.create'](
        LOCAL,
        providerArgument(oauth, { baseURL: `${vendor.url}/v1`, defaultModel: 'm' }),
      );
      return oauth;
    };
    const connect = async (userId: string): Promise<void> => {
      const browser = new CookieBrowser();
      const confirmation = await browser.open(
        await server.host.operations['ai.providers.connect']({ userId, source: 'http' }, { providerId: 'acme' }),
      );
      expect(confirmation.body).to.include(`will be connected to the user “${userId}”`);
      const page = await browser.authorize(await browser.submit(confirmation, {}), `${userId}@acme`);
      expect(page.body).to.include('Your Acme account is connected');
    };

    it('connects an account in a browser, uses it, and forces a token refresh when the vendor rejects the old token', async () => {
      const oauth = await startOAuth();
      try {
        expect((await ask('acme')).text).to.include('No account is connected');
        await connect('local');
        expect((await ask('acme')).status).to.equal(200);
        const first = tokensShown().at(-1);
        refused.push(first ?? '');
        expect((await ask('acme')).status).to.equal(200);
        const [second, third] = tokensShown().slice(-2);
        expect(second).to.equal(first);
        expect(third).not.to.equal(first);
        expect(oauth.countGranted('refresh_token')).to.equal(1);
        expect(await server.host.operations['ai.providers.test'](LOCAL, { providerId: 'acme' })).to.include({
          connected: true,
        });
        await server.host.operations['ai.providers.disconnect'](LOCAL, { providerId: 'acme' });
        expect(
          await failure(server.host.operations['ai.providers.test'](LOCAL, { providerId: 'acme' })),
        ).to.be.instanceOf(LLMAuthError);
      } finally {
        await oauth.stop();
      }
    });

    it('goes on calling a vendor for others while the accounts of some cannot be renewed', async () => {
      const oauth = await startOAuth();
      try {
        await connect('local');
        expect((await ask('acme')).status).to.equal(200);
        const tokens: string[] = [];
        for (const userId of ['eve', 'mal']) {
          const { token } = await server.host.apiTokens.tokens.issue({ userId, name: 'a test', scopes: ['generate'] });
          await connect(userId);
          expect((await ask('acme', token)).status).to.equal(200);
          refused.push(tokensShown().at(-1) ?? '');
          tokens.push(token);
        }
        oauth.intercept = (request, response) => {
          if (request.url === '/token') response.writeHead(503).end();
          return request.url === '/token';
        };
        const failed = await Promise.all(
          tokens.flatMap((token) => Array.from({ length: 8 }, () => ask('acme', token))),
        );
        expect(failed.filter(({ status }) => status < 500)).to.deep.equal([]);
        expect(server.host.module.manager.health().get('acme')).to.include({ circuit: 'closed' });
        expect((await ask('acme')).status).to.equal(200);
      } finally {
        await oauth.stop();
      }
    });

    it('decrypts earlier secrets with its own key, which only its owner can read', async () => {
      await shared();
      const path = join(directory, 'secret.key');
      const key = await readFile(path, 'utf8');
      expect((await stat(path)).mode & 0o777).to.equal(0o600);
      await server.close();
      server = await start();
      expect(await readFile(path, 'utf8')).to.equal(key);
      expect((await ask('mine')).status).to.equal(200);
      await server.close();
      server = await start({ AI_SECRET_KEYS: newKey('another') });
      expect(await ask('mine'))
        .to.deep.include({ status: 401 })
        .and.to.have.property('text')
        .that.includes('a key that this server does not have');
      await server.close();
      server = await start({ AI_SECRET_KEYS: `${newKey('another')},${key.trim()}` });
      expect((await ask('mine')).status).to.equal(200);
    });

    it('names the variable or the file whose sealing keys are invalid', async () => {
      await server.close();
      const path = join(directory, 'secret.key');
      await writeFile(path, 'k1:short');
      for (const [env, name] of [
        [{}, path],
        [{ AI_SECRET_KEYS: 'k1:short' }, 'AI_SECRET_KEYS'],
      ] as const)
        expect(await failure(start(env)))
          .to.have.property('message')
          .that.includes(`The sealing keys in ${name} are invalid`);
      await rm(path);
      server = await start();
    });

    it('takes its root URL from the environment, or from its own address', async () => {
      expect(server.host.providers.flow.rootUrl).to.equal(server.url);
      const behindProxy = await startStandalone({ ROOT_URL: 'https://app.example/bolide' });
      expect(behindProxy.host.providers.flow.rootUrl).to.equal('https://app.example/bolide');
      await behindProxy.close();
    });

    it('accepts bodies up to the configured size', async () => {
      for (const [megabytes, status] of [
        [undefined, 200],
        ['11', 413],
      ] as const) {
        const other = await startStandalone(megabytes === undefined ? {} : { HTTP_MAX_BODY_MB: megabytes });
        const content = `Hello.${' '.repeat(11 * 1024 * 1024)}`;
        const response = await fetch(`${other.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${other.token}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'groq', messages: [{ role: 'user', content }] }),
        });
        expect(response.status, await response.text()).to.equal(status);
        await other.close();
      }
    });

    const WRONG: readonly (readonly [variable: string, value: string])[] = [
      ['ROOT_URL', 'ftp://app.example'],
      ['AI_SECRET_KEYS', 'k1:short'],
      ['AI_ALLOW_PRIVATE_HOSTS', 'http://ollama.lan'],
      ['PORT', 'http'],
      ['HTTP_MAX_BODY_MB', '0'],
      ['HTTP_MAX_JSON_VALUES', '10'],
    ];
    for (const [variable, value] of WRONG) {
      it(`does not start with an invalid ${variable}, and leaves nothing open`, async () => {
        const other = await mkdtemp(join(tmpdir(), 'bolide-host-'));
        expect(await failure(startDemoServer({ PORT: '0', DATA_DIR: other, [variable]: value })))
          .to.have.property('message')
          .that.matches(/ROOT_URL|sealing keys|AI_ALLOW_PRIVATE_HOSTS|PORT|HTTP_MAX_BODY_MB|HTTP_MAX_JSON_VALUES/);
        // The lock of the data directory was released.
        await (await startDemoServer({ PORT: '0', DATA_DIR: other })).close();
        await rm(other, { recursive: true });
      });
    }

    it("reaches private addresses for admins' providers only if allowed", async () => {
      const strict = await startStandalone();
      try {
        const row = {
          providerId: 'inside',
          name: 'Inside',
          vendor: 'openai_compatible',
          auth: { kind: 'api_key' },
          apiKey: 'sk-x',
          defaultModel: 'm',
        };
        expect(
          await failure(strict.host.operations['ai.providers.create'](LOCAL, { ...row, baseURL: `${vendor.url}/v1` })),
        ).to.have.property('path', 'baseURL');
        await strict.host.operations['ai.providers.create'](LOCAL, {
          ...row,
          baseURL: `https://127.0.0.1:${vendor.port}/v1`,
        });
        expect(
          await failure(strict.host.module.manager.generate('local', { model: 'inside', input: 'Hello' })),
        ).to.have.property('code', 'invalid-request');
        expect(vendor.connections).to.equal(0);
      } finally {
        await strict.close();
      }
    });
  }),
);

const COMPLETION = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello from the vendor' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 6, total_tokens: 11 },
};
