import { expect } from 'chai';
import fc from 'fast-check';
import { hasScope, SCOPES } from '../../../imports/api/auth/ApiPrincipal';
import { ApiTokens } from '../../../imports/api/auth/ApiTokens';
import { MemoryApiTokenStore } from '../../../imports/api/auth/MemoryApiTokenStore';
import { presentedToken } from '../../../imports/api/auth/presentedToken';
import { failure } from '../../support/failure';

describe('the register of API tokens', () => {
  let now = 1_000;
  let store: MemoryApiTokenStore;
  let tokens: ApiTokens;
  beforeEach(() => {
    now = 1_000;
    store = new MemoryApiTokenStore();
    tokens = new ApiTokens({ store, now: () => now });
  });

  const REQUEST = { userId: 'ann', name: 'laptop', scopes: ['generate'] } as const;

  it('verifies a token as its owner with its scopes', async () => {
    const { id, token } = await tokens.issue(REQUEST);
    expect(await tokens.verify(token)).to.deep.equal({
      userId: 'ann',
      scopes: ['generate'],
      token: { id, name: 'laptop' },
    });
  });

  it('neither stores nor lists anything that would be accepted as a token', async () => {
    const { token, id } = await tokens.issue(REQUEST);
    const stored = JSON.stringify(await store.ofUser('ann'));
    expect(stored).not.to.include(token).and.not.to.include(token.slice(7));
    const listed = await tokens.list('ann');
    expect(listed).to.deep.equal([{ _id: id, userId: 'ann', name: 'laptop', scopes: ['generate'], createdAt: 1_000 }]);
    expect(await tokens.verify(id)).to.equal(undefined);
    const [{ hash } = { hash: '' }] = await store.ofUser('ann');
    expect(await tokens.verify(hash)).to.equal(undefined);
  });

  it('issues long, unique tokens', async () => {
    const issued = await Promise.all(Array.from({ length: 100 }, () => tokens.issue(REQUEST)));
    expect(new Set(issued.map(({ token }) => token)).size).to.equal(100);
    for (const { token } of issued) expect(token).to.match(/^bolide_[\w-]{43}$/);
  });

  it('rejects a token with any character changed', async () => {
    const { token } = await tokens.issue(REQUEST);
    await fc.assert(
      fc.asyncProperty(fc.nat(token.length - 1), fc.constantFrom('A', 'b', '0', '-', ' '), async (at, other) => {
        const changed = token.slice(0, at) + other + token.slice(at + 1);
        if (changed !== token) expect(await tokens.verify(changed)).to.equal(undefined);
      }),
    );
    expect(await tokens.verify('')).to.equal(undefined);
    expect(await tokens.verify('x'.repeat(1_000_000))).to.equal(undefined);
  });

  it('rejects a token whose hash only has the same prefix', async () => {
    const { token } = await tokens.issue(REQUEST);
    const [stored] = await store.ofUser('ann');
    await store.removeOfUser('ann');
    await store.insert({ ...stored!, hash: stored!.hash.slice(0, -2) + (stored!.hash.endsWith('00') ? '01' : '00') });
    expect(await tokens.verify(token)).to.equal(undefined);
  });

  it('rejects expired tokens and tokens revoked by their owner', async () => {
    const { token } = await tokens.issue({ ...REQUEST, expiresAt: 2_000 });
    now = 1_999;
    expect(await tokens.verify(token)).not.to.equal(undefined);
    now = 2_000;
    expect(await tokens.verify(token)).to.equal(undefined);
    const other = await tokens.issue(REQUEST);
    expect(await tokens.revoke('bob', other.id)).to.equal(false);
    expect(await tokens.verify(other.token)).not.to.equal(undefined);
    expect(await tokens.revoke('ann', other.id)).to.equal(true);
    expect(await tokens.verify(other.token)).to.equal(undefined);
  });

  it('rejects a missing user or scope, a token that no header can carry, and a duplicate', async () => {
    for (const invalid of [
      { ...REQUEST, userId: '' },
      { ...REQUEST, scopes: [] },
      { ...REQUEST, scopes: ['everything' as 'admin'] },
    ]) {
      expect(await failure(tokens.issue(invalid))).to.have.property('code', 'invalid-request');
    }
    for (const token of ['', 'with blank', 'with,comma', 'ünicode', 'x'.repeat(513)]) {
      expect(await failure(tokens.adopt(token, REQUEST))).to.have.property('path', 'token');
    }
    await tokens.adopt('chosen-by-operator', REQUEST);
    expect(await failure(tokens.adopt('chosen-by-operator', REQUEST))).to.have.property('code', 'conflict');
  });
});

describe('hasScope', () => {
  it('grants a scope to its holder, to admins, and unless it is admin to logged-in users', () => {
    for (const scope of SCOPES) {
      expect(hasScope({ userId: 'x', scopes: ['admin'] }, scope)).to.equal(true);
      expect(hasScope({ userId: 'x', scopes: [] }, scope)).to.equal(false);
      expect(hasScope({ userId: 'x', scopes: [scope] }, scope)).to.equal(true);
      expect(hasScope({ userId: 'x' }, scope)).to.equal(scope !== 'admin');
    }
    expect(hasScope({ userId: 'x', scopes: ['read'] }, 'generate')).to.equal(false);
  });
});

describe('presentedToken', () => {
  const token = (headers: Record<string, string>, url = '/v1/responses'): string | undefined =>
    presentedToken({ headers, url });

  it('reads the token from where each vendor’s clients send it', () => {
    expect(token({ authorization: 'Bearer abc' })).to.equal('abc');
    expect(token({ authorization: 'bearer  abc ' })).to.equal('abc');
    expect(token({ 'x-api-key': 'abc' })).to.equal('abc');
    expect(token({ 'x-goog-api-key': 'abc' })).to.equal('abc');
    expect(token({ 'api-key': 'abc' })).to.equal('abc');
    expect(token({}, '/v1beta/models/x:generateContent?alt=sse&key=abc')).to.equal('abc');
  });

  it('ignores other schemes, other URLs and repeated headers', () => {
    expect(token({ authorization: 'Basic abc' })).to.equal(undefined);
    expect(token({ authorization: 'Bearer' })).to.equal(undefined);
    expect(token({ authorization: 'Bearer a b' })).to.equal(undefined);
    expect(token({}, '/v1/responses?key=abc')).to.equal(undefined);
    expect(token({ 'x-api-key': 'abc, def' })).to.equal(undefined);
    expect(token({ 'x-api-key': '' })).to.equal(undefined);
    expect(token({})).to.equal(undefined);
  });
});
