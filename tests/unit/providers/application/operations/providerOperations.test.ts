/** `ai.providers.*`: who may call what, which arguments are valid, and that only the public view is returned. */
import { expect } from 'chai';
import type { Actor } from '../../../../../imports/business/ai/domain/types/Actor';
import fc from 'fast-check';
import {
  isLLMError,
  LLMAuthError,
  LLMInvalidRequestError,
  LLMPermissionError,
} from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import { CANARY } from '../../../../support/canaries';
import { failure } from '../../../../support/failure';
import { ADMIN, ALICE, BOB, ProvidersHost } from '../../../../support/oauth/ProvidersHost';

const PUBLIC_FIELDS = [
  '_id',
  'allowedModels',
  'auth',
  'connected',
  'defaultModel',
  'enabled',
  'name',
  'needsReconnect',
  'vendor',
];
const KEY = `sk-${CANARY}`;
const SHARED = {
  providerId: 'shared',
  name: 'Shared',
  vendor: 'openai',
  auth: { kind: 'api_key' },
  access: 'everyone',
};
const ANONYMOUS: Actor = { userId: '', isAdmin: true, source: 'method' };

type Name = keyof ProvidersHost['operations'] extends `ai.providers.${infer N}` ? N : never;

describe('ai.providers.*', () => {
  let app: ProvidersHost;
  let probed: boolean;
  beforeEach(async () => {
    probed = true;
    app = await ProvidersHost.start({ probe: () => Promise.resolve({ valid: probed }), allowPrivateHosts: false });
  });
  afterEach(() => app.stop());
  const call = (name: Name, argument?: unknown, actor = ADMIN): Promise<unknown> =>
    app.operations[`ai.providers.${name}`](actor, argument);

  it('creates a provider that only admins may use by default', async () => {
    const view = await call('create', {
      ...SHARED,
      access: undefined,
      apiKey: `${KEY}-0`,
      defaultModel: 'gpt-5',
      allowedModels: ['gpt-5'],
    });
    expect(view).to.deep.equal({
      _id: 'shared',
      name: 'Shared',
      vendor: 'openai',
      auth: { kind: 'api_key' },
      defaultModel: 'gpt-5',
      allowedModels: ['gpt-5'],
      connected: true,
      needsReconnect: false,
      enabled: true,
    });
    expect(await call('list', undefined, ALICE)).to.deep.equal([]);
  });

  it('generates an id from the name if none is given, and accepts _id for the id', async () => {
    const { providerId: _providerId, ...unnamed } = SHARED;
    const created = (await Promise.all([1, 2].map(() => call('create', { ...unnamed, name: 'Team Ö & Co.' })))) as {
      _id: string;
    }[];
    for (const { _id } of created) expect(_id).to.match(/^team-co-[0-9a-f]{8}$/);
    expect(created[0]?._id).not.to.equal(created[1]?._id);
    expect(((await call('create', { ...unnamed, name: 'Ж' })) as { _id: string })._id).to.match(
      /^provider-[0-9a-f]{8}$/,
    );
    expect(((await call('create', { ...unnamed, _id: 'mine' })) as { _id: string })._id).to.equal('mine');
    expect(await failure(call('create', { ...unnamed, _id: 'a/b' })))
      .to.be.instanceOf(LLMInvalidRequestError)
      .with.property('path', 'providerId');
  });

  it('accepts short forms: auth as a string, access as a list of users and roles, and a window in milliseconds', async () => {
    await call('create', {
      ...SHARED,
      auth: 'api_key',
      access: ['alice', 'writers'],
      limits: { requests: 5, window: 60_000 },
    });
    const writer: Actor = { userId: 'eve', source: 'method', roles: ['writers'] };
    for (const actor of [ALICE, writer]) expect(await call('list', undefined, actor)).to.have.length(1);
    for (const actor of [BOB, { ...writer, roles: ['readers'] }])
      expect(await call('list', undefined, actor)).to.deep.equal([]);
    expect(await app.providers.find({}))
      .to.have.nested.property('[0].limits')
      .deep.equal({ windowMs: 60_000, requests: 5 });
    expect(await failure(call('create', { ...SHARED, providerId: 'other', auth: 'oauth_user' })))
      .to.be.instanceOf(LLMInvalidRequestError)
      .with.property('path', 'auth.issuer');
    expect(await failure(call('update', { providerId: 'shared', access: ['alice', 7] })))
      .to.be.instanceOf(LLMInvalidRequestError)
      .with.property('path', 'access[1]');
  });

  it('returns no fields beyond the public ones', async () => {
    const views = [
      await call('create', {
        ...SHARED,
        baseURL: 'https://api.example/v1',
        limits: { windowMs: 60_000, requests: 1 },
        apiKey: `${KEY}-0`,
      }),
    ];
    views.push(
      await call('update', { providerId: 'shared', name: 'Renamed' }),
      await call('setApiKey', { providerId: 'shared', apiKey: `${KEY}-1` }),
      await call('test', { providerId: 'shared' }),
    );
    views.push(...((await call('list', {})) as unknown[]), await call('remove', { providerId: 'shared' }));
    const oauthProvider = {
      ...SHARED,
      auth: {
        kind: 'oauth_user',
        issuer: 'https://server.example',
        clientId: 'x',
        clientSecret: `${KEY}-2`,
        scopes: ['s'],
      },
    };
    views.push(await call('create', oauthProvider), ...((await call('list', {})) as unknown[]));
    for (const view of views) {
      expect(PUBLIC_FIELDS).to.include.members(Object.keys(view as object));
      expect(Object.keys((view as { auth: object }).auth)).to.deep.equal(['kind']);
      expect(JSON.stringify(view)).not.to.include(KEY);
    }
  });

  const ADMIN_ONLY = {
    create: SHARED,
    update: { providerId: 'shared' },
    remove: { providerId: 'shared' },
    setApiKey: { providerId: 'shared', apiKey: 'sk-x' },
    rotateKeys: {},
  } as const;
  for (const [name, argument] of Object.entries(ADMIN_ONLY) as [keyof typeof ADMIN_ONLY, object][]) {
    it(`lets only admins call ${name}`, async () => {
      if (name !== 'create') await call('create', SHARED);
      expect(await failure(call(name, argument, ALICE))).to.be.instanceOf(LLMPermissionError);
      expect(await failure(call(name, argument, ANONYMOUS))).to.be.instanceOf(LLMAuthError);
      await call(name, argument, ADMIN);
    });
  }

  for (const name of ['list', 'setMyApiKey', 'connect', 'disconnect', 'test'] as const) {
    it(`rejects anonymous calls of ${name}`, async () => {
      expect(await failure(call(name, name === 'list' ? {} : { providerId: 'shared' }, ANONYMOUS))).to.be.instanceOf(
        LLMAuthError,
      );
    });
  }

  it('stores a key per user, and removes it with null or disconnect', async () => {
    await call('create', { ...SHARED, auth: { kind: 'user_api_key' } });
    expect(await call('setMyApiKey', { providerId: 'shared', apiKey: `${KEY}-of-alice` }, ALICE)).to.include({
      connected: true,
    });
    expect(await call('list', {}, BOB)).to.have.nested.property('[0].connected', false);
    expect((await app.module.credentials.getAccessToken({ providerId: 'shared', userId: 'alice' }))?.token).to.equal(
      `${KEY}-of-alice`,
    );
    expect(await call('setMyApiKey', { providerId: 'shared', apiKey: null }, ALICE)).to.include({ connected: false });
    await call('setMyApiKey', { providerId: 'shared', apiKey: 'sk-alice-2' }, ALICE);
    expect(await call('disconnect', { providerId: 'shared' }, ALICE)).to.include({ connected: false });
    expect(
      await failure(app.module.credentials.getAccessToken({ providerId: 'shared', userId: 'alice' })),
    ).to.be.instanceOf(LLMAuthError);
  });

  it('rejects keys and connections for providers that don’t use them', async () => {
    await call('create', SHARED);
    for (const [name, argument] of [
      ['setMyApiKey', { apiKey: 'sk-x' }],
      ['connect', {}],
      ['disconnect', {}],
    ] as const) {
      expect(await failure(call(name, { providerId: 'shared', ...argument }, ALICE)), name).to.be.instanceOf(
        LLMInvalidRequestError,
      );
    }
    await call('update', { providerId: 'shared', auth: { kind: 'user_api_key' } });
    expect(await failure(call('setApiKey', { providerId: 'shared', apiKey: 'sk-x' }))).to.be.instanceOf(
      LLMInvalidRequestError,
    );
  });

  it('reports by `test` whether the vendor accepts the credential', async () => {
    await call('create', { ...SHARED, apiKey: 'sk-x' });
    expect(await call('test', { providerId: 'shared' }, ALICE)).to.include({ _id: 'shared' });
    probed = false;
    expect(await failure(call('test', { providerId: 'shared' }, ALICE))).to.be.instanceOf(LLMAuthError);
  });

  it('changes the given fields, leaves the others, and removes those that are null', async () => {
    await call('create', {
      ...SHARED,
      baseURL: 'https://api.example/v1',
      defaultModel: 'a',
      limits: { windowMs: 60_000, requests: 5 },
      access: { users: ['alice'], roles: ['writers'] },
    });
    await call('update', { providerId: 'shared', name: 'Other', defaultModel: null, limits: null });
    const stored = await app.module.service.find('shared');
    expect(stored).to.include({ name: 'Other', baseURL: 'https://api.example/v1', enabled: true, owner: 'system' });
    expect(stored).not.to.have.any.keys('defaultModel', 'limits');
    expect(stored?.access).to.deep.equal({ kind: 'list', users: ['alice'], roles: ['writers'] });
  });

  it('lets one of two concurrent edits win, and rejects the other with a conflict', async () => {
    await call('create', SHARED);
    const edits = await Promise.allSettled([
      call('update', { providerId: 'shared', name: 'One' }),
      call('update', { providerId: 'shared', name: 'Two' }),
    ]);
    const refused = edits.flatMap((edit) => (edit.status === 'rejected' ? [edit.reason as unknown] : []));
    expect(refused.length).to.be.lessThan(2);
    for (const reason of refused) expect(reason).to.have.property('code', 'conflict');
  });

  const oauth = { kind: 'oauth_user', issuer: 'https://server.example', clientId: 'x' };
  const WRONG: readonly (readonly [path: string, argument: object])[] = [
    ['baseUrl', { ...SHARED, baseUrl: 'https://x.example' }],
    ['providerId', { ...SHARED, providerId: 'callback' }],
    ['providerId', { ...SHARED, providerId: 'a/b' }],
    ['providerId', { ...SHARED, providerId: { $ne: 1 } }],
    ['providerId', { ...SHARED, providerId: 'x'.repeat(129) }],
    ['name', { ...SHARED, name: '' }],
    ['name', { ...SHARED, name: 'a\nb' }],
    ['vendor', { ...SHARED, vendor: 'acme' }],
    ['auth', { ...SHARED, auth: undefined }],
    ['auth.kind', { ...SHARED, auth: { kind: 'none' } }],
    ['auth.clientId', { ...SHARED, auth: { kind: 'api_key', clientId: 'x' } }],
    ['apiKey', { ...SHARED, apiKey: 'sk with spaces' }],
    ['apiKey', { ...SHARED, apiKey: 'sk\r\nx-injected: 1' }],
    ['apiKey', { ...SHARED, auth: { kind: 'user_api_key' }, apiKey: 'sk-x' }],
    ['baseURL', { ...SHARED, baseURL: 'http://api.example' }],
    ['baseURL', { ...SHARED, baseURL: 'https://user:pw@api.example' }],
    ['baseURL', { ...SHARED, baseURL: 'javascript:alert(1)' }],
    ['wire', { ...SHARED, wire: 'smoke signals' }],
    ['access', { ...SHARED, access: 'nobody' }],
    ['access.kind', { ...SHARED, access: { kind: 'anybody' } }],
    ['access.users', { ...SHARED, access: { users: 'alice' } }],
    ['limits', { ...SHARED, limits: { windowMs: 60_000 } }],
    ['limits.windowMs', { ...SHARED, limits: { windowMs: 0, requests: 1 } }],
    ['limits.requests', { ...SHARED, limits: { windowMs: 60_000, requests: -1 } }],
    ['enabled', { ...SHARED, enabled: 'no' }],
    ['auth.issuer', { ...SHARED, auth: { kind: 'oauth_user', clientId: 'x' } }],
    ['auth.clientId', { ...SHARED, auth: { kind: 'oauth_user', issuer: 'https://server.example' } }],
    ['auth.tokenEndpoint', { ...SHARED, auth: { ...oauth, discovery: 'none' } }],
    [
      'auth.authorizationEndpoint',
      { ...SHARED, auth: { ...oauth, discovery: 'none', tokenEndpoint: 'https://server.example/t' } },
    ],
    ['auth.scopes[1]', { ...SHARED, auth: { ...oauth, scopes: ['ok', 'not ok'] } }],
    [
      'auth.authorizationParameters',
      { ...SHARED, auth: { ...oauth, authorizationParameters: { redirect_uri: 'https://evil.example' } } },
    ],
    [
      'auth.authorizationParameters',
      { ...SHARED, auth: { ...oauth, authorizationParameters: { code_challenge_method: 'plain' } } },
    ],
    ['auth.clientSecret', { ...SHARED, auth: { ...oauth, clientSecret: '' } }],
    ['auth.server', { ...SHARED, auth: { kind: 'oauth_user', server: 'acme', clientId: 'x' } }],
    ['auth.tenant', { ...SHARED, auth: { kind: 'oauth_user', server: 'azure', clientId: 'x' } }],
    ['auth.tenant', { ...SHARED, auth: { kind: 'oauth_user', server: 'azure', clientId: 'x', tenant: 'common' } }],
    ['auth.tenant', { ...SHARED, auth: { kind: 'oauth_user', server: 'azure', clientId: 'x', tenant: '../evil' } }],
    ['auth.kind', { ...SHARED, auth: { kind: 'oauth_app', server: 'openrouter' } }],
  ];
  for (const [path, argument] of WRONG) {
    it(`rejects ${path} in ${JSON.stringify({ ...argument, name: undefined, vendor: undefined }).slice(0, 110)}`, async () => {
      const thrown = await failure(call('create', argument));
      expect(thrown).to.be.instanceOf(LLMInvalidRequestError);
      expect((thrown as LLMInvalidRequestError).path).to.equal(path);
      expect(await app.providers.find({})).to.deep.equal([]);
    });
  }

  it('responds to arbitrary arguments with a typed error or a view', async () => {
    await call('create', SHARED);
    const names = Object.keys(app.operations) as (keyof ProvidersHost['operations'])[];
    const anyArgument = fc.oneof(
      fc.anything({ maxDepth: 3, withNullPrototype: true, withBigInt: false }),
      fc.record(
        {
          providerId: fc.oneof(fc.constant('shared'), fc.string(), fc.anything({ maxDepth: 1 })),
          apiKey: fc.anything({ maxDepth: 1 }),
          auth: fc.object({ maxDepth: 2 }),
          access: fc.anything({ maxDepth: 2 }),
        },
        { requiredKeys: [] },
      ),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...names),
        anyArgument,
        fc.constantFrom(ADMIN, ALICE),
        async (name, argument, actor) => {
          try {
            await app.operations[name](actor, argument);
          } catch (error) {
            expect(isLLMError(error), `${name}: ${String(error)}`).to.equal(true);
          }
        },
      ),
      { numRuns: 300 },
    );
    await call('list');
    expect(Object.getOwnPropertyNames(Object.prototype)).not.to.include.members(['providerId', 'apiKey', 'auth']);
  });
});
