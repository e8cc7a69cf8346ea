/** Who may use what: every role, rule, owner and surface. Nothing is allowed unless a rule allows it. */
import { expect } from 'chai';
import { LLMAuthError, LLMPermissionError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { decideAccess } from '../../../../imports/business/providers/domain/entities/ProviderAccess';
import type { Provider, ProviderAccess } from '../../../../imports/business/providers/domain/entities/Provider';
import type { Actor } from '../../../../imports/business/ai/domain/types/Actor';
import { failure } from '../../../support/failure';
import { ADMIN, ProvidersHost } from '../../../support/oauth/ProvidersHost';

const ACTORS = {
  admin: { userId: 'admin', isAdmin: true, source: 'method' },
  owner: { userId: 'owner', source: 'method' },
  listed: { userId: 'listed', source: 'method' },
  writer: { userId: 'writer', source: 'method', roles: ['writers', 'others'] },
  stranger: { userId: 'stranger', source: 'method', roles: ['strangers'] },
} as const satisfies Record<string, Actor>;
type Role = keyof typeof ACTORS;

const RULES = {
  admins: { kind: 'admins' },
  everyone: { kind: 'everyone' },
  'listed users': { kind: 'list', users: ['listed'], roles: [] },
  'listed roles': { kind: 'list', users: [], roles: ['writers'] },
  'an empty list': { kind: 'list', users: [], roles: [] },
} as const satisfies Record<string, ProviderAccess>;

const ALLOWED: Readonly<Record<keyof typeof RULES, readonly Role[]>> = {
  admins: ['admin', 'owner'],
  everyone: ['admin', 'owner', 'listed', 'writer', 'stranger'],
  'listed users': ['admin', 'owner', 'listed'],
  'listed roles': ['admin', 'owner', 'writer'],
  'an empty list': ['admin', 'owner'],
};

function provider(access: ProviderAccess, more: Partial<Provider> = {}): Provider {
  return {
    _id: 'p',
    name: 'P',
    vendor: 'openai',
    auth: { kind: 'api_key' },
    owner: 'owner',
    access,
    enabled: true,
    createdAt: 0,
    updatedAt: 0,
    ...more,
  };
}

describe('decideAccess', () => {
  for (const [rule, access] of Object.entries(RULES) as [keyof typeof RULES, ProviderAccess][]) {
    for (const role of Object.keys(ACTORS) as Role[]) {
      const isAllowed = ALLOWED[rule].includes(role);
      it(`${isAllowed ? 'lets' : 'does not let'} ${role} use a provider for ${rule}`, () => {
        expect(decideAccess(provider(access), ACTORS[role]).allowed).to.equal(isAllowed);
        expect(decideAccess(provider(access, { enabled: false }), ACTORS[role])).to.deep.equal({
          allowed: false,
          reason: 'disabled',
        });
        expect(decideAccess(provider(access, { allowedModels: ['a'] }), ACTORS[role], 'b').allowed).to.equal(false);
        expect(decideAccess(provider(access, { allowedModels: ['a'] }), ACTORS[role], 'a').allowed).to.equal(isAllowed);
      });
    }
  }

  it('rejects anonymous users', () => {
    expect(decideAccess(provider({ kind: 'everyone' }), undefined)).to.deep.equal({
      allowed: false,
      reason: 'no-user',
    });
    expect(decideAccess(provider({ kind: 'everyone' }), { userId: '' })).to.deep.equal({
      allowed: false,
      reason: 'no-user',
    });
  });

  it('throws for an unknown rule', () => {
    // A row that another program wrote.
    const odd = { kind: 'anybody' } as unknown as ProviderAccess;
    expect(() => decideAccess(provider(odd), ACTORS.stranger)).to.throw(TypeError);
  });
});

describe('access on every surface', () => {
  let app: ProvidersHost;
  before(async () => {
    app = await ProvidersHost.start();
    for (const actor of Object.values(ACTORS)) app.users.set(actor.userId, actor);
    for (const [index, access] of Object.values(RULES).entries()) {
      await app.operations['ai.providers.create'](ADMIN, {
        providerId: `p${index}`,
        name: `P${index}`,
        vendor: 'openai',
        auth: { kind: 'api_key' },
        apiKey: 'sk-shared-key-0',
        access,
        owner: 'owner',
      });
    }
  });
  after(() => app.stop());

  for (const role of Object.keys(ACTORS) as Role[]) {
    it(`is the same for ${role} in the list, for a token, and for a test`, async () => {
      const actor = ACTORS[role];
      const usable = Object.keys(RULES).flatMap((rule, index) =>
        ALLOWED[rule as keyof typeof RULES].includes(role) ? [`p${index}`] : [],
      );
      expect((await app.operations['ai.providers.list'](actor)).map(({ _id }) => _id)).to.have.members(usable);
      for (let index = 0; index < Object.keys(RULES).length; index++) {
        const providerId = `p${index}`;
        if (usable.includes(providerId)) {
          expect((await app.module.credentials.getAccessToken({ providerId, userId: actor.userId }))?.token).to.equal(
            'sk-shared-key-0',
          );
          expect((await app.operations['ai.providers.test'](actor, { providerId }))._id).to.equal(providerId);
          expect(await app.module.service.decide(providerId, actor)).to.deep.equal({ allowed: true });
        } else {
          expect(
            await failure(app.module.credentials.getAccessToken({ providerId, userId: actor.userId })),
          ).to.be.instanceOf(LLMPermissionError);
          expect(await failure(app.operations['ai.providers.test'](actor, { providerId }))).to.be.instanceOf(
            LLMPermissionError,
          );
          expect((await app.module.service.decide(providerId, actor)).allowed).to.equal(false);
        }
      }
    });
  }

  it('gives the same error for a missing and for a forbidden provider', async () => {
    const [absent, foreign] = await Promise.all([
      failure(app.module.credentials.getAccessToken({ providerId: 'nowhere', userId: 'stranger' })),
      failure(app.module.credentials.getAccessToken({ providerId: 'p0', userId: 'stranger' })),
    ]);
    expect((absent as Error).message).to.equal((foreign as Error).message);
  });

  it('yields no token for users that are unknown or can’t be looked up', async () => {
    expect(
      await failure(app.module.credentials.getAccessToken({ providerId: 'p1', userId: 'ghost' })),
    ).to.be.instanceOf(LLMPermissionError);
    app.users.delete('stranger');
    expect(
      await failure(app.module.credentials.getAccessToken({ providerId: 'p1', userId: 'stranger' })),
    ).to.be.instanceOf(LLMPermissionError);
    app.users.set('stranger', ACTORS.stranger);
    expect(
      (await app.module.credentials.getAccessToken({ providerId: 'p1', userId: 'stranger' }))?.kind,
      'control',
    ).to.equal('api_key');
  });

  it('disables a provider for all users at once, and shows it to admins only', async () => {
    await app.operations['ai.providers.update'](ADMIN, { providerId: 'p1', enabled: false });
    expect(
      await failure(app.module.credentials.getAccessToken({ providerId: 'p1', userId: 'admin' })),
    ).to.be.instanceOf(LLMPermissionError);
    expect((await app.operations['ai.providers.list'](ACTORS.stranger)).map(({ _id }) => _id)).not.to.include('p1');
    expect((await app.operations['ai.providers.list'](ACTORS.admin)).find(({ _id }) => _id === 'p1')).to.include({
      enabled: false,
    });
    await app.operations['ai.providers.update'](ADMIN, { providerId: 'p1', enabled: true });
  });

  it('yields no token for a caller that would send it to the provider’s former server', async () => {
    const row = {
      providerId: 'moved',
      name: 'Moved',
      vendor: 'openai',
      baseURL: 'https://old.example/v1',
      auth: { kind: 'api_key' },
      apiKey: 'sk-old',
      access: 'everyone',
    };
    const before = await app.module.service.create(row);
    const source = app.module.credentials.boundTo(before);
    const request = { providerId: 'moved', userId: 'admin' };
    expect((await source.getAccessToken(request))?.token).to.equal('sk-old');
    await app.module.service.update('moved', {
      providerId: 'moved',
      baseURL: 'https://new.example/v1',
      apiKey: 'sk-new',
    });
    expect(await failure(source.getAccessToken(request))).to.include({ code: 'vendor-error', retryable: true });
    const after = await app.module.service.find('moved');
    expect((await app.module.credentials.boundTo(after ?? before).getAccessToken(request))?.token).to.equal('sk-new');
  });

  it('admits a user before the key that was read meanwhile is opened', async () => {
    const created = await app.module.service.create({
      providerId: 'closed',
      name: 'Closed',
      vendor: 'openai',
      auth: { kind: 'api_key' },
      apiKey: 'sk-closed',
      access: 'everyone',
    });
    const source = app.module.credentials.boundTo(created);
    const request = { providerId: 'closed', userId: 'stranger' };
    expect((await source.getAccessToken(request))?.token).to.equal('sk-closed');
    await app.module.service.update('closed', { providerId: 'closed', access: 'admins' });
    expect(await failure(source.getAccessToken(request))).to.include({ code: 'permission-denied' });
    await app.module.service.update('closed', { providerId: 'closed', access: 'everyone' });
    await app.operations['ai.providers.setApiKey'](ADMIN, { providerId: 'closed', apiKey: 'sk-opened' });
    expect((await source.getAccessToken(request))?.token).to.equal('sk-opened');
  });

  it('reports which credential is missing', async () => {
    await app.operations['ai.providers.setApiKey'](ADMIN, { providerId: 'p1', apiKey: null });
    expect(await failure(app.module.credentials.getAccessToken({ providerId: 'p1', userId: 'stranger' })))
      .to.be.instanceOf(LLMAuthError)
      .with.property('message')
      .that.includes('No API key is set');
    await app.operations['ai.providers.setApiKey'](ADMIN, { providerId: 'p1', apiKey: 'sk-shared-key-0' });
  });

  it('requires no key for a self-hosted server, unless one is set', async () => {
    await app.operations['ai.providers.create'](ADMIN, {
      providerId: 'own',
      name: 'Own',
      vendor: 'llama',
      auth: { kind: 'api_key' },
      baseURL: 'http://127.0.0.1:11434/v1',
      access: 'everyone',
    });
    expect(await app.module.credentials.getAccessToken({ providerId: 'own', userId: 'stranger' })).to.equal(undefined);
    expect((await app.operations['ai.providers.list'](ACTORS.stranger)).find(({ _id }) => _id === 'own')).to.include({
      connected: true,
    });
    await app.operations['ai.providers.setApiKey'](ADMIN, { providerId: 'own', apiKey: 'sk-own-0' });
    expect(await app.module.credentials.getAccessToken({ providerId: 'own', userId: 'stranger' })).to.deep.equal({
      kind: 'api_key',
      token: 'sk-own-0',
    });
  });
});
