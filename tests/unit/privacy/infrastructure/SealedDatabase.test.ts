/** A database that stores content sealed: what is stored, what is read, and what does not open. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { DocumentCollection, StoredDocument } from '../../../../imports/database/DocumentCollection';
import type { DocumentDatabase } from '../../../../imports/database/DocumentDatabase';
import { openSqliteDatabase } from '../../../../imports/database/sqlite/SqliteDatabase';
import type { ContentRule } from '../../../../imports/database/StoredCollection';
import { SealedDatabase } from '../../../../imports/business/privacy/infrastructure/SealedDatabase';
import { KeyRing } from '../../../../imports/business/providers/infrastructure/sealing/KeyRing';
import { CONTENT_KEYS, UserContentKeys } from '../../../../imports/business/privacy/infrastructure/UserContentKeys';
import type { ContentKeyDocument } from '../../../../imports/business/privacy/infrastructure/UserContentKeys';
import { failure } from '../../../support/failure';
import { newKey } from '../../../support/oauth/ProvidersHost';

interface Note extends StoredDocument {
  readonly userId: string;
  readonly text?: string;
  readonly list?: readonly { readonly at: number; readonly text: string }[];
  readonly calls?: Readonly<Record<string, string>>;
  readonly error?: { readonly code: string; readonly message: string };
  readonly state?: string;
}

interface Delta extends StoredDocument {
  readonly executionId: string;
  readonly text: string;
}

const RULES: Readonly<Record<string, ContentRule | null>> = {
  ai_notes: { content: ['text', 'list', 'calls.*', 'error.message'], owner: { field: 'userId' } },
  ai_others: { content: ['text'], owner: { field: 'userId' } },
  ai_deltas: { content: ['text'], owner: { run: 'executionId' } },
  ai_runs: { content: [], owner: { field: 'userId' } },
  ai_counts: null,
};
const COLLECTIONS = Object.entries(RULES).map(([name, content]) => ({
  name,
  bound: 'account' as const,
  content,
  ofUsers: [],
}));
const NOTE: Note = {
  _id: 'n1',
  userId: 'ada',
  text: 'A secret \ud800 text',
  list: [{ at: 1, text: 'A secret entry' }],
  calls: { c61: 'A secret call', c62: 'Another secret' },
  error: { code: 'invalid', message: 'A secret value' },
  state: 'open',
};
const READ: Note = { ...NOTE, text: 'A secret \ufffd text' };

describe('a sealed database', () => {
  let directory: string;
  let inner: DocumentDatabase;
  let now: number;
  let warnings: string[];
  const ring = KeyRing.parse(newKey('k1'));

  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-sealed-'));
    inner = await openSqliteDatabase({ directory });
    now = Date.parse('2026-01-01');
    warnings = [];
  });
  afterEach(async () => {
    await inner.close();
    await rm(directory, { recursive: true });
  });

  /** Opens the database as another process would, with keys of its own in memory. */
  async function open(
    isSealing = true,
  ): Promise<{ readonly database: SealedDatabase; readonly keys: UserContentKeys }> {
    const keys = new UserContentKeys(inner.collection<ContentKeyDocument>(CONTENT_KEYS), ring, { now: () => now });
    await keys.ready();
    const logger = { warn: (message: string) => void warnings.push(message) };
    return { database: new SealedDatabase(inner, { collections: COLLECTIONS, keys, isSealing, logger }), keys };
  }
  const notes = async (isSealing?: boolean): Promise<DocumentCollection<Note>> =>
    (await open(isSealing)).database.collection<Note>('ai_notes');
  const stored = async (name = 'ai_notes'): Promise<string> => JSON.stringify(await inner.collection(name).find({}));

  it('stores content sealed and the rest as it is, and reads it back', async () => {
    const collection = await notes();
    await collection.insert(NOTE);
    await collection.insertMany([
      { ...NOTE, _id: 'n2' },
      { _id: 'n3', userId: 'bob' },
    ]);
    expect(await stored()).to.not.include('secret');
    expect(await stored())
      .to.include('"code":"invalid"')
      .and.include('"state":"open"')
      .and.include('c61');
    expect(await (await notes()).find({ state: 'open' }, { sort: { _id: 1 } })).to.deep.equal([
      READ,
      { ...READ, _id: 'n2' },
    ]);
    expect(await collection.findOne({ _id: 'n1' }, { fields: { 'error.message': 1 } })).to.deep.equal({
      _id: 'n1',
      error: { message: 'A secret value' },
    });
    expect(await collection.findOne({ _id: 'n3' })).to.deep.equal({ _id: 'n3', userId: 'bob' });
    expect(await collection.count({ state: 'open' })).to.equal(2);
  });

  it('seals what updates write: fields, parts of objects, entries of maps', async () => {
    const collection = await notes();
    await collection.insert(NOTE);
    const changes = [
      { text: 'secret 1' },
      { error: { code: 'other', message: 'secret 2' } },
      { 'calls.c63': 'secret 3' },
      { calls: { c64: 'secret 4' }, state: 'closed' },
      { 'error.message': 'secret 5' },
      { 'error.code': 'third' },
    ];
    for (const $set of changes) expect(await collection.update({ _id: 'n1', userId: 'ada' }, { $set })).to.equal(1);
    expect(await stored()).to.not.include('secret');
    expect(await collection.findOne({ _id: 'n1' })).to.deep.equal({
      ...READ,
      text: 'secret 1',
      calls: { c64: 'secret 4' },
      error: { code: 'third', message: 'secret 5' },
      state: 'closed',
    });
    expect(await collection.update({ _id: 'n1', state: 'open' }, { $set: { text: 'late' } })).to.equal(0);
    expect(await collection.update({ _id: 'none' }, { $set: { text: 'late' } })).to.equal(0);
  });

  it('finds the owner of a document that an update does not name', async () => {
    const { database, keys } = await open();
    const collection = database.collection<Note>('ai_notes');
    await collection.insert({ _id: 'n1', userId: 'ada' });
    await collection.update({ _id: 'n1' }, { $set: { text: 'secret' } });
    const key = await keys.ofUser('ada');
    expect(await stored()).to.include(`"sealed":["${key.id}"`);
  });

  it('seals what upserts write', async () => {
    const collection = await notes();
    await collection.insert(NOTE);
    const upsert = (_id: string, text: string): Parameters<typeof collection.upsertMany>[0][number] => ({
      _id,
      selector: { state: 'open' },
      modifier: { $set: { userId: 'ada', text, state: 'open' } },
    });
    const changed = await collection.upsertMany([upsert('n1', 'secret 1'), upsert('n2', 'secret 2')]);
    expect(changed).to.deep.equal({ written: 2, inserted: 1 });
    expect(await stored()).to.not.include('secret');
    const texts = await collection.find({}, { sort: { _id: 1 }, fields: { text: 1 } });
    expect(texts.map(({ text }) => text)).to.deep.equal(['secret 1', 'secret 2']);
  });

  it('seals what belongs to a run with the key of its owner', async () => {
    const { database, keys } = await open();
    await database.collection<Note>('ai_runs').insert({ _id: 'r1', userId: 'ada' });
    const deltas = database.collection<Delta>('ai_deltas');
    await deltas.insert({ _id: 'd1', executionId: 'r1', text: 'secret' });
    await deltas.insert({ _id: 'd2', executionId: 'gone', text: 'secret' });
    await keys.removeOfUser('ada');
    expect(await deltas.find({})).to.deep.equal([{ _id: 'd2', executionId: 'gone', text: 'secret' }]);
    expect(await stored('ai_deltas')).to.not.include('secret');
  });

  it('does not open content that was moved to another document, field, user or collection, or altered', async () => {
    const { database } = await open();
    const collection = database.collection<Note>('ai_notes');
    for (const _id of ['n1', 'n2']) await collection.insert({ ...NOTE, _id });
    await database.collection<Note>('ai_others').insert({ _id: 'n1', userId: 'ada', text: 'other' });
    const raw = inner.collection<Note>('ai_notes');
    const [first, second] = await raw.find({}, { sort: { _id: 1 } });
    const [foreign] = await inner.collection<Note>('ai_others').find({});
    const { sealed } = first?.text as unknown as { readonly sealed: readonly [string, string] };
    const [keyId, text] = sealed;
    const altered = { sealed: [keyId, `${text.slice(0, -2)}${text.endsWith('AA') ? 'BA' : 'AA'}`] };
    const moves = [
      { text: second?.text },
      { text: first?.calls?.['c61'] },
      { 'calls.c61': first?.calls?.['c62'] },
      { text: foreign?.text },
      { text: altered },
    ];
    for (const $set of moves) {
      await raw.update({ _id: 'n1' }, { $set });
      expect(String(await failure(collection.findOne({ _id: 'n1' }))))
        .to.include('does not open')
        .and.include('n1 of ai_notes');
      await raw.update({ _id: 'n1' }, { $set: { text: first?.text, calls: first?.calls } });
      expect(await collection.findOne({ _id: 'n1' })).to.deep.equal(READ);
    }
  });

  it('reads what was stored before sealing was switched on, and what was sealed before it was switched off', async () => {
    await (await notes(false)).insert(NOTE);
    expect(await stored()).to.include('A secret call');
    const sealing = await notes(true);
    expect(await sealing.findOne({ _id: 'n1' })).to.deep.equal(READ);
    await sealing.insert({ ...NOTE, _id: 'n2' });
    const off = await notes(false);
    expect(await off.findOne({ _id: 'n2' })).to.deep.equal({ ...READ, _id: 'n2' });
    await off.update({ _id: 'n2' }, { $set: { text: 'In plain text' } });
    expect(await stored()).to.include('In plain text');
  });

  it('leaves out documents whose key was deleted, and says so once', async () => {
    const { database, keys } = await open();
    const collection = database.collection<Note>('ai_notes');
    for (const _id of ['n1', 'n2']) await collection.insert({ ...NOTE, _id });
    await collection.insert({ ...NOTE, _id: 'n3', userId: 'bob' });
    expect(await keys.removeOfUser('ada')).to.equal(1);
    expect((await collection.find({})).map(({ _id }) => _id)).to.deep.equal(['n3']);
    expect(await collection.findOne({ _id: 'n1' })).to.equal(undefined);
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.include('ai_notes');
    // A user who comes back has another key.
    await collection.insert({ ...NOTE, _id: 'n4' });
    expect((await collection.find({}, { sort: { _id: 1 } })).map(({ _id }) => _id)).to.deep.equal(['n3', 'n4']);
  });

  it('learns within a minute that another process has deleted a key', async () => {
    const here = await open();
    const there = await open();
    const collection = here.database.collection<Note>('ai_notes');
    await collection.insert(NOTE);
    await there.keys.removeOfUser('ada');
    expect(await collection.findOne({ _id: 'n1' })).to.deep.equal(READ);
    now += 60_000;
    expect(await collection.findOne({ _id: 'n1' })).to.equal(undefined);
  });

  it('gives a user one key, whoever asks first', async () => {
    const [here, there] = [await open(), await open()];
    const keys = await Promise.all([here, there, here, there].map((process) => process.keys.ofUser('ada')));
    expect(new Set(keys.map(({ id }) => id)).size).to.equal(1);
    expect((await here.keys.ofUser('bob')).id).to.not.equal(keys[0]?.id);
  });

  it('does not start without the key of the operator that seals those of users', async () => {
    await (await notes()).insert(NOTE);
    const other = new UserContentKeys(inner.collection(CONTENT_KEYS), KeyRing.parse(newKey('k2')));
    expect(String(await failure(other.ready())))
      .to.include('"k1"')
      .and.include('AI_SECRET_KEYS');
  });

  it('refuses what would match nothing, or could not be sealed', async () => {
    const { database } = await open();
    const collection = database.collection<Note>('ai_notes');
    await collection.insert(NOTE);
    const attempts = [
      () => collection.find({ text: 'A secret text' }),
      () => collection.findOne({ $or: [{ state: 'open' }, { $and: [{ 'error.message': 'x' }] }] }),
      () => collection.find({}, { sort: { text: 1 } }),
      () => collection.count({ calls: { $exists: true } }),
      () => collection.aggregate({}, { by: { text: 'text' } }),
      () => collection.remove({ text: 'x' }),
      () => collection.ensureIndex({ text: 1 }),
      () => collection.update({ userId: 'ada' }, { $set: { text: 'x' } }, { multi: true }),
      () => collection.update({ _id: 'n1' }, { $set: { 'list.text': 'x' } }),
      async () => database.collection('ai_unknown'),
    ];
    for (const attempt of attempts) expect(await failure(attempt()), String(attempt)).to.have.property('code');
    expect(await collection.find({ 'error.code': 'invalid' })).to.have.length(1);
  });
});
