/**
 * Secrets are planted and collected over the full life of connections, and searched for in everything that was sent,
 * printed or stored.
 */
import { inspect } from 'node:util';
import { expect } from 'chai';
import { ProvidersPublication } from '../../imports/business/providers/application/operations/ProvidersPublication';
import { COLLECTIONS } from '../../imports/business/providers/infrastructure/factories/createProvidersModule';
import { CANARY } from '../support/canaries';
import { failure } from '../support/failure';
import { TestAuthorizationServer, CLIENT } from '../support/oauth/TestAuthorizationServer';
import {
  atCallback,
  connectAs,
  createProvider,
  PROVIDER_ID,
  providerArgument,
} from '../support/oauth/connectedProvider';
import type { CookieBrowser } from '../support/oauth/CookieBrowser';
import { createFlowDependencies } from '../support/oauth/flowDependencies';
import { ADMIN, ALICE, BOB, newKey, ProvidersHost } from '../support/oauth/ProvidersHost';

const PLANTED = {
  'shared key': `sk-${CANARY}-Shared-0123456789`,
  'own key': `sk-${CANARY}-Own-9876543210`,
  'client secret': CLIENT.secret,
  'wrong client secret': `${CANARY}-Wrong-client-5556667778`,
} as const;

describe('secrets', () => {
  it('never appear in views, pages, errors, logs or rows', async () => {
    const app = await ProvidersHost.start();
    const server = await TestAuthorizationServer.start({ redirectUris: [`${app.url}/oauth/callback`] });
    const secrets = new Map<string, string>(Object.entries(PLANTED));
    for (const entry of app.settings.secretKeys.split(',')) secrets.set('sealing key', entry.split(':')[1] ?? '');
    /** Everything that left the process, by destination. */
    const emitted = new Map<string, string>();
    const emit = (where: string, what: unknown): void => {
      emitted.set(
        `${where} ${emitted.size}`,
        typeof what === 'string' ? what : inspect(what, { depth: 12, showHidden: true, maxStringLength: null }),
      );
    };
    const { credentials } = app.module;
    const { operations } = app;
    const printed = captureOutput();
    try {
      const published: unknown[] = [];
      const sink = {
        added: (...entry: unknown[]) => published.push(entry),
        changed: (...entry: unknown[]) => published.push(entry),
        removed: (...entry: unknown[]) => published.push(entry),
        ready: () => published.push('ready'),
      };
      const publication = new ProvidersPublication({
        findActor: () => Promise.resolve(ALICE),
        list: (actor) => app.module.service.list(actor),
        sink,
      });
      const token = async (userId: string, providerId = PROVIDER_ID): Promise<void> => {
        const credential = await credentials.getAccessToken({ providerId, userId });
        if (credential !== undefined) secrets.set(`token ${secrets.size}`, credential.token);
      };

      // The full life cycle, including failures.
      await createProvider(app, server);
      emit(
        'view',
        await operations['ai.providers.create'](ADMIN, {
          providerId: 'shared',
          name: 'Shared',
          vendor: 'openai',
          auth: { kind: 'api_key' },
          apiKey: PLANTED['shared key'],
          access: 'everyone',
        }),
      );
      emit(
        'view',
        await operations['ai.providers.create'](ADMIN, {
          providerId: 'own',
          name: 'Own',
          vendor: 'openai',
          auth: { kind: 'user_api_key' },
          access: 'everyone',
        }),
      );
      emit(
        'view',
        await operations['ai.providers.setMyApiKey'](ALICE, { providerId: 'own', apiKey: PLANTED['own key'] }),
      );
      await publication.start();
      const { page, browser } = await connectAs(app, 'alice', atCallback);
      const parameters = new URL(page.url).searchParams;
      for (const name of ['code', 'state']) secrets.set(name, parameters.get(name) ?? '');
      for (let delivery = 0; delivery < 2; delivery++) emit('page', pageText(await browser.open(page.url)));
      const quoting = new URLSearchParams({
        state: parameters.get('state') ?? '',
        error: 'x',
        error_description: `code ${parameters.get('code') ?? ''}`,
      });
      emit('page', pageText(await browser.open(`${app.url}/oauth/callback?${quoting.toString()}`)));
      const quoted = await almost(app, 'bob');
      const quotedCode = quoted.parameters.get('code') ?? '';
      secrets.set('code that is quoted', quotedCode);
      const refusal = new URLSearchParams({
        state: quoted.parameters.get('state') ?? '',
        iss: server.url,
        error: 'server_said',
        error_description: `no code ${quotedCode}`,
        code: quotedCode,
      });
      emit('page', pageText(await quoted.browser.open(`${app.url}/oauth/callback?${refusal.toString()}`)));
      await token('alice');
      await app.expire(PROVIDER_ID, 'alice');
      await token('alice');
      await token('alice', 'shared');
      await token('alice', 'own');
      await publication.refresh();
      for (const caller of [ADMIN, ALICE, BOB]) emit('list', await operations['ai.providers.list'](caller));
      for (const providerId of ['shared', 'own', PROVIDER_ID])
        emit('view', await operations['ai.providers.test'](ALICE, { providerId }));
      emit('error', await failure(credentials.getAccessToken({ providerId: 'own', userId: 'bob' })));
      emit(
        'error',
        await failure(
          operations['ai.providers.setMyApiKey'](ALICE, {
            providerId: 'own',
            apiKey: `${PLANTED['own key']} with spaces`,
          }),
        ),
      );
      emit(
        'error',
        await failure(
          operations['ai.providers.create'](ADMIN, {
            ...providerArgument(server, { providerId: 'bad' }),
            apiKey: PLANTED['shared key'],
          }),
        ),
      );
      emit(
        'error',
        await failure(
          Promise.resolve().then(() => app.createModule({ secretKeys: `${app.settings.secretKeys},broken` })),
        ),
      );
      emit(
        'error',
        await failure(
          app
            .createModule({ secretKeys: newKey('k9') })
            .credentials.getAccessToken({ providerId: 'own', userId: 'alice' }),
        ),
      );
      await operations['ai.providers.create'](
        ADMIN,
        providerArgument(
          server,
          { providerId: 'wrong', name: 'Wrong' },
          { clientSecret: PLANTED['wrong client secret'] },
        ),
      );
      emit('page', pageText((await connectAs(app, 'alice', undefined, 'wrong')).page));
      for (const [key, { model }] of server.rows) if (model === 'RefreshToken') server.rows.delete(key);
      await app.expire(PROVIDER_ID, 'alice');
      emit('error', await failure(credentials.getAccessToken({ providerId: PROVIDER_ID, userId: 'alice' })));
      emit('page', pageText((await connectAs(app, 'alice')).page));
      emit('view', await operations['ai.providers.rotateKeys'](ADMIN));
      emit('rows', await dump(app));
      emit('view', await operations['ai.providers.disconnect'](ALICE, { providerId: PROVIDER_ID }));
      emit('view', await operations['ai.providers.remove'](ADMIN, { providerId: 'own' }));
      emit('publication', published);
      emit('log', app.log);
      emit('unexpected', app.unexpected);
    } finally {
      emit('output', printed.stop());
    }
    for (const { parameters } of server.tokenRequests) {
      for (const name of ['refresh_token', 'code_verifier', 'code']) {
        const value = parameters.get(name);
        if (value !== null) secrets.set(`${name} ${secrets.size}`, value);
      }
    }
    const rows = emitted.get([...emitted.keys()].find((where) => where.startsWith('rows')) ?? '') ?? '';
    await app.stop();
    await server.stop();

    expect(secrets.size).to.be.greaterThan(15);
    expect(emitted.size).to.be.greaterThan(20);
    const leaks = [...emitted].flatMap(([where, text]) =>
      [...secrets]
        .filter(([, secret]) => spellings(secret).some((each) => text.includes(each)))
        .map(([name]) => `${name} in ${where}`),
    );
    expect(leaks).to.deep.equal([]);
    expect(rows, 'control: the rows were searched').to.include('sealed').and.to.include(PROVIDER_ID);
  });

  it('are found by the search if they leak (control)', async () => {
    const app = await ProvidersHost.start();
    await app.operations['ai.providers.create'](ADMIN, {
      providerId: 'shared',
      name: 'Shared',
      vendor: 'openai',
      auth: { kind: 'api_key' },
      apiKey: PLANTED['shared key'],
      access: 'everyone',
    });
    const { vault } = createFlowDependencies(app, {
      sealer: {
        currentKeyId: 'none',
        seal: (secret) => ({ sealed: Buffer.from(secret).toString('base64'), keyId: 'none' }),
        open: (box) => box.sealed,
      },
    });
    await vault.put((await createFlowDependencies(app).providers.find('shared'))!, 'api_key', null, {
      type: 'api_key',
      key: PLANTED['shared key'],
    });
    const rows = await dump(app);
    await app.stop();
    expect(
      spellings(JSON.stringify({ type: 'api_key', key: PLANTED['shared key'] })).some((each) => rows.includes(each)),
    ).to.equal(true);
  });
});

/** The secret, and its encodings. */
function spellings(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [
    secret,
    encodeURIComponent(secret),
    bytes.toString('base64').replace(/=+$/, ''),
    bytes.toString('base64url'),
    bytes.toString('hex'),
  ];
}

async function almost(
  app: ProvidersHost,
  userId: string,
): Promise<{ parameters: URLSearchParams; browser: CookieBrowser }> {
  const { page, browser } = await connectAs(app, userId, atCallback);
  return { parameters: new URL(page.url).searchParams, browser };
}

/** Body and headers. The URL is excluded: the browser supplied it. */
function pageText({
  status,
  headers,
  body,
}: {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}): string {
  return `${status} ${JSON.stringify([...headers])} ${body}`;
}

async function dump(app: ProvidersHost): Promise<string> {
  const collections = Object.values(COLLECTIONS).map((name) => app.database.database.collection(name).find({}));
  return inspect(await Promise.all(collections), { depth: 12, maxStringLength: null, maxArrayLength: null });
}

/** Captures standard output and error; the test reporter writes nothing meanwhile. */
function captureOutput(): { stop(): string } {
  const written: string[] = [];
  const original = { out: process.stdout.write.bind(process.stdout), error: process.stderr.write.bind(process.stderr) };
  const capture = (chunk: unknown): boolean => written.push(String(chunk)) > 0;
  process.stdout.write = capture;
  process.stderr.write = capture;
  return {
    stop() {
      process.stdout.write = original.out;
      process.stderr.write = original.error;
      return written.join('');
    },
  };
}
