/** Sealed boxes, the key ring, the key file, and rotation. */
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { LLMInvalidRequestError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import { SealError } from '../../../../../imports/business/providers/domain/interfaces/Sealer';
import { KeyRing } from '../../../../../imports/business/providers/infrastructure/sealing/KeyRing';
import { SealingService } from '../../../../../imports/business/providers/infrastructure/sealing/SealingService';
import { readOrCreateSecretKey } from '../../../../../imports/business/providers/infrastructure/sealing/secretKeyFile';
import { newKey, ProvidersHost, ADMIN, ALICE } from '../../../../support/oauth/ProvidersHost';

describe('a sealed box', () => {
  const sealer = new SealingService(KeyRing.parse(newKey('k1')));

  it('opens to the original text with the same binding, and with no other', () => {
    const binding = fc.array(fc.oneof(fc.string(), fc.constant(null)), { maxLength: 5 });
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), binding, binding, (secret, place, other) => {
        const box = sealer.seal(secret, place);
        expect(sealer.open(box, place)).to.equal(secret);
        if (JSON.stringify(place) !== JSON.stringify(other)) expect(() => sealer.open(box, other)).to.throw(SealError);
      }),
      { numRuns: 300 },
    );
  });

  it('distinguishes null from a user named null, and two parts of a binding from one', () => {
    expect(() => sealer.open(sealer.seal('x', ['p', null]), ['p', 'null'])).to.throw(SealError);
    expect(() => sealer.open(sealer.seal('x', ['a', 'b']), ['a","b'])).to.throw(SealError);
    expect(() => sealer.open(sealer.seal('x', ['ab', 'c']), ['a', 'bc'])).to.throw(SealError);
  });

  it('differs each time', () => {
    const boxes = Array.from({ length: 100 }, () => sealer.seal('the same', []).sealed);
    expect(new Set(boxes).size).to.equal(100);
  });

  it('does not open if it is truncated, extended, re-encoded or not a box', () => {
    const { sealed, keyId } = sealer.seal('a secret', []);
    for (const malformed of [
      '',
      'x',
      sealed.slice(0, -1),
      sealed.slice(0, 30),
      `${sealed}AA`,
      `${sealed}=`,
      `${sealed} `,
      sealed.slice(4),
      'A'.repeat(500),
      '{}',
    ]) {
      expect(() => sealer.open({ sealed: malformed, keyId }, []), malformed.slice(0, 20)).to.throw(SealError);
    }
    expect(sealer.open({ sealed, keyId }, []), 'control').to.equal('a secret');
  });

  it('reveals nothing of its content if it does not open', () => {
    const { sealed } = sealer.seal('canary-secret', []);
    expect(() => sealer.open({ sealed, keyId: 'other' }, [])).to.throw(SealError, /key ring/);
    try {
      sealer.open({ sealed, keyId: 'k1' }, ['elsewhere']);
    } catch (error) {
      expect(JSON.stringify(error, Object.getOwnPropertyNames(error)))
        .not.to.include('canary')
        .and.not.to.include(sealed);
      expect((error as Error).cause).to.equal(undefined);
    }
  });
});

describe('the key ring', () => {
  it('seals with the first key, and opens with any', () => {
    const [first, second] = [newKey('a'), newKey('b')];
    const old = new SealingService(KeyRing.parse(first));
    const rotated = new SealingService(KeyRing.parse(`${second}, ${first}`));
    expect(rotated.currentKeyId).to.equal('b');
    expect(rotated.open(old.seal('old', []), [])).to.equal('old');
    expect(() => old.open(rotated.seal('new', []), [])).to.throw(SealError);
  });

  it('rejects invalid keys, and names their position without quoting them', () => {
    const good = newKey('good');
    for (const [text, what] of [
      ['', 'key 1'],
      [`${good},`, 'key 2'],
      ['nokey', 'key 1'],
      [`k:${'A'.repeat(20)}`, 'bytes'],
      [`${good},${good}`, 'two keys'],
      [`${good},k:not base64!`, 'key 2'],
      [`bad id:${good.split(':')[1] ?? ''}`, 'key 1'],
    ] as const) {
      expect(() => KeyRing.parse(text))
        .to.throw(LLMInvalidRequestError)
        .with.property('message')
        .that.includes(what)
        .and.does.not.include(good.split(':')[1]?.slice(0, 10) ?? '');
    }
  });
});

describe('the secret key file', () => {
  let directory: string;
  beforeEach(async () => {
    directory = join(await mkdtemp(join(tmpdir(), 'bolide-key-')), 'data');
  });
  afterEach(() => rm(join(directory, '..'), { recursive: true }));

  it('is created once, readable by its owner only, and then reused', async () => {
    const first = await readOrCreateSecretKey(directory);
    expect(KeyRing.parse(first).current.id).to.match(/^local-/);
    expect(await readOrCreateSecretKey(directory)).to.equal(first);
    expect((await stat(join(directory, 'secret.key'))).mode & 0o777).to.equal(0o600);
    expect((await stat(directory)).mode & 0o777).to.equal(0o700);
    expect(await readdir(directory)).to.deep.equal(['secret.key']);
  });

  it('is the same for hosts that start concurrently', async () => {
    const keys = await Promise.all(Array.from({ length: 20 }, () => readOrCreateSecretKey(directory)));
    expect(new Set(keys).size).to.equal(1);
  });

  it('is restricted to its owner if it was not before', async () => {
    const first = await readOrCreateSecretKey(directory);
    await rm(join(directory, 'secret.key'));
    await writeFile(join(directory, 'secret.key'), first, { mode: 0o644 });
    expect(await readOrCreateSecretKey(directory)).to.equal(first);
    expect((await stat(join(directory, 'secret.key'))).mode & 0o777).to.equal(0o600);
  });
});

describe('a new sealing key', () => {
  let app: ProvidersHost;
  beforeEach(async () => {
    app = await ProvidersHost.start();
    await app.operations['ai.providers.create'](ADMIN, {
      providerId: 'p',
      name: 'P',
      vendor: 'openai',
      auth: { kind: 'user_api_key' },
      access: 'everyone',
    });
    await app.operations['ai.providers.setMyApiKey'](ALICE, { providerId: 'p', apiKey: 'sk-alice' });
    await app.operations['ai.providers.setMyApiKey'](ADMIN, { providerId: 'p', apiKey: 'sk-root' });
  });
  afterEach(() => app.stop());

  it('reseals secrets as they are used, and the others on rotateKeys', async () => {
    const rotated = app.createModule({ secretKeys: `${newKey('k2')},${app.settings.secretKeys}` });
    expect((await rotated.credentials.getAccessToken({ providerId: 'p', userId: 'alice' }))?.token).to.equal(
      'sk-alice',
    );
    expect((await app.credentials.find({}, { sort: { userId: 1 } })).map(({ keyId }) => keyId)).to.deep.equal([
      'k2',
      'k1',
    ]);
    expect(await rotated.administration.rotateKeys()).to.deep.equal({ resealed: 1, unopened: 0 });
    expect((await app.credentials.find({})).map(({ keyId }) => keyId)).to.deep.equal(['k2', 'k2']);
    expect(await rotated.administration.rotateKeys()).to.deep.equal({ resealed: 0, unopened: 0 });
  });

  it('counts the secrets that it cannot open, and leaves them unchanged', async () => {
    const [before] = await app.credentials.find({ userId: 'alice' });
    const secretKeys = newKey('k3');
    expect(await app.createModule({ secretKeys }).administration.rotateKeys()).to.deep.equal({
      resealed: 0,
      unopened: 2,
    });
    expect((await app.credentials.find({ userId: 'alice' }))[0]).to.deep.equal(before);
  });

  it('does not disturb concurrent use', async () => {
    const secretKeys = `${newKey('k2')},${app.settings.secretKeys}`;
    const [first, second] = [app.createModule({ secretKeys }), app.createModule({ secretKeys })];
    const use = async (module: typeof first): Promise<string | undefined> =>
      (await module.credentials.getAccessToken({ providerId: 'p', userId: 'alice' }))?.token;
    const uses = Array.from({ length: 50 }, (_value, index) => use(index % 2 === 0 ? first : second));
    const [rotation, ...tokens] = await Promise.all([first.administration.rotateKeys(), ...uses]);
    expect(rotation.unopened).to.equal(0);
    expect(new Set(tokens)).to.deep.equal(new Set(['sk-alice']));
    expect((await app.credentials.find({})).map(({ keyId }) => keyId)).to.deep.equal(['k2', 'k2']);
  });
});
