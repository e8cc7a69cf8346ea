/**
 * The export of a user's data: it has every document of the user and nothing of others, no secret, the same kinds as
 * the deletion, and little of it in memory at a time.
 */
import { expect } from 'chai';
import { API_TOKENS } from '../../imports/api/auth/DocumentApiTokenStore';
import { SESSIONS } from '../../imports/api/dashboard/SessionStore';
import type { StoredDocument } from '../../imports/database/DocumentCollection';
import type { UserDataPage } from '../../imports/business/privacy/domain/UserDataPage';
import { BUDGET_LIMITS } from '../../imports/business/limits/infrastructure/DocumentBudgetLimits';
import { PROMPTS } from '../../imports/business/prompts/infrastructure/DocumentPromptStore';
import { USER_LOADS } from '../../imports/business/limits/infrastructure/DocumentUserLoads';
import { RUN_EVENTS } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunEvents';
import { RESPONSES } from '../../imports/business/ai/infrastructure/persistence/responses/DocumentResponseStore';
import { UserDataReader } from '../../imports/business/privacy/infrastructure/UserDataReader';
import { COLLECTIONS as PROVIDERS } from '../../imports/business/providers/infrastructure/factories/createProvidersModule';
import { CONTENT_KEYS } from '../../imports/business/privacy/infrastructure/UserContentKeys';
import { RUN_ITEMS } from '../../imports/business/ai/infrastructure/persistence/runs/RunTranscripts';
import { userDocumentsOf } from '../../imports/database/StoredCollection';
import { COLLECTIONS } from '../../imports/host/collections';
import { DATABASES, QUICK_DATABASES } from '../support/documentDatabases';
import { failure } from '../support/failure';
import { ADA, ADMIN, actorOf, BOB, CANARIES, CONTENTS, FilledHost, IMPERSONAL, marksOf } from '../support/FilledHost';

interface Line {
  readonly kind: string;
  readonly collection: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The fields by which a secret could be recognized. */
interface SecretDocument extends StoredDocument {
  readonly hash?: string;
  readonly prefix?: string;
  readonly previous?: { readonly hash: string };
  readonly sealed?: string;
  readonly destination?: string;
  readonly grantId?: string;
  readonly token?: { readonly secretId: string };
}

const USER_DOCUMENTS = userDocumentsOf(COLLECTIONS);
const KINDS = new Set(USER_DOCUMENTS.map(({ kind }) => kind));
const SECRET_COLLECTIONS = [API_TOKENS, SESSIONS, PROVIDERS.credentials, PROVIDERS.authorizations, CONTENT_KEYS];
const PATH = `/api/user-data/${encodeURIComponent(ADA)}`;

const partOf = ({ kind, collection }: Pick<Line, 'kind' | 'collection'>): string => `${kind} of ${collection}`;
/** Only admins share prompts and set limits. */
const OF_ADMINS = [PROMPTS, BUDGET_LIMITS].map((collection) => partOf({ kind: 'authored', collection }));

function parse(text: string): readonly Line[] {
  expect(text.endsWith('\n')).to.equal(true);
  return text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

describe('The declarations of collections', () => {
  it('name each collection once', () => {
    const names = COLLECTIONS.map(({ name }) => name);
    expect(names).to.deep.equal([...new Set(names)]);
  });

  it('declare nothing of a user where there is nothing', () => {
    expect(COLLECTIONS.flatMap(({ name, ofUsers }) => (ofUsers.length === 0 ? [name] : []))).to.have.members(
      IMPERSONAL,
    );
  });
});

for (const [kind, open] of Object.entries(QUICK_DATABASES))
  describe(`The export of a user's data (${kind})`, () => {
    let test: FilledHost;
    let runsOfAda: readonly string[];
    let runsOfBob: readonly string[];
    let text: string;
    before(async () => {
      test = await FilledHost.start(open, { sealContent: true });
      runsOfAda = await test.fill(ADA);
      runsOfBob = await test.fill(BOB);
      const response = await test.request(ADA, 'GET', PATH);
      expect(response.headers.get('content-type')).to.equal('application/x-ndjson; charset=utf-8');
      text = await response.text();
    });
    after(() => test.stop());

    it('has every document of the user, opened, and nothing of others', async () => {
      const lines = parse(text);
      const isShared = !test.opened.database.isExclusive;
      // A shared database counts what users do in all processes; the embedded one has transcripts in parts.
      const unused: readonly string[] = isShared ? [RUN_ITEMS] : [USER_LOADS, RUN_EVENTS];
      const kinds = USER_DOCUMENTS.filter(({ collection }) => !unused.includes(collection));
      const expected = new Set(kinds.map(partOf).filter((part) => !OF_ADMINS.includes(part)));
      expect([...new Set(lines.map(partOf))]).to.have.members([...expected]);
      for (const [name, stored] of await test.dumpOf(ADA, runsOfAda)) {
        if (IMPERSONAL.includes(name)) continue;
        const exported = lines.filter(({ collection }) => collection === name).map(({ data }) => data);
        const ids = exported.flatMap(({ _id }) => (typeof _id === 'string' ? [_id] : []));
        const missing = stored
          .map((json) => (JSON.parse(json) as StoredDocument)._id)
          .filter((id) => !ids.includes(id));
        // What has secret ids is exported without them.
        if (ids.length > 0) expect(missing, name).to.deep.equal([]);
        else expect(exported.length, name).to.be.at.least(stored.length);
      }
      for (const { name, content } of COLLECTIONS)
        // The only content of these is of failures, and of guardrails.
        if (content !== null && !['ai_requests', 'ai_job_states', ...unused].includes(name))
          expect(JSON.stringify(lines.filter(({ collection }) => collection === name)), name).to.include(CONTENTS[ADA]);
      for (const mark of marksOf(BOB, runsOfBob)) expect(text).not.to.include(mark);
    });

    it('says what others did to what is the user’s, but not who', () => {
      const acts = parse(text).filter((line) => line.kind === 'auditEntries');
      const byOthers = acts.filter(({ data }) => data['userId'] === undefined);
      expect(byOthers.map(({ data }) => data['action'])).to.include.members(['budget.set', 'provider.create']);
      for (const { data } of byOthers) expect(JSON.stringify(data)).not.to.match(/root-1|address|userAgent|ownerId/);
    });

    it('has JSON in place of texts of JSON', () => {
      const lines = parse(text);
      const first = (name: string): Line['data'] => lines.find((line) => line.kind === name)?.data ?? {};
      expect(first('runs')['input']).to.be.an('array').that.is.not.empty;
      expect(first('responses')['stored']).to.be.an('object');
      expect(first('prompts')).to.have.nested.property('versions[0].content.input', CONTENTS[ADA]);
      // What is in a batch has none of its own.
      const exchanges = lines
        .filter(({ kind }) => kind === 'requestBodies')
        .flatMap(({ data }) => (data['exchanges'] ?? []) as readonly object[]);
      expect(exchanges[0]).to.have.property('request').that.is.an('object');
    });

    it('has no secret: no key, token, hash, id of a session, nor what is sealed', async () => {
      const secrets = new Set<string>([`sk-${CANARIES[ADA]}`, `sk-own-${CANARIES[ADA]}`, 'bolide_']);
      const publicIds: string[] = [];
      for (const name of SECRET_COLLECTIONS)
        for (const stored of await test.opened.database.collection<SecretDocument>(name).find({})) {
          const { hash, prefix, sealed, destination, grantId, token, previous } = stored;
          for (const value of [hash, prefix, sealed, destination, grantId, token?.secretId, previous?.hash])
            if (value !== undefined && value !== '') secrets.add(value);
          if (name === API_TOKENS) publicIds.push(stored._id);
          else secrets.add(stored._id);
        }
      // The id of a token is the beginning of its first hash.
      for (const id of publicIds) secrets.delete(id);
      expect(secrets.size).to.be.greaterThan(10);
      for (const secret of secrets) expect(text).not.to.include(secret);
    });

    it('is the same in pages of any size', async () => {
      const pagesOf = async (pageCharacters: number): Promise<readonly UserDataPage[]> => {
        const reader = new UserDataReader(test.opened.database, USER_DOCUMENTS, { pageCharacters });
        const pages: UserDataPage[] = [];
        for (let page = await reader.page(ADA); ; page = await reader.page(ADA, page.next)) {
          pages.push(page);
          if (page.next === undefined) return pages;
        }
      };
      const [whole, ...others] = await pagesOf(Infinity);
      expect(others).to.deep.equal([]);
      const small = await pagesOf(1);
      expect(small.length).to.be.greaterThan(30);
      expect(small.flatMap(({ lines }) => lines)).to.deep.equal(whole?.lines);
    });

    it('has nothing left after the deletion but that it was exported', async () => {
      const deleted = await test.host.deleteUserData(ADA);
      const kinds = [...KINDS].filter((name) => name !== 'auditEntries');
      expect(Object.keys(deleted)).to.have.members([...kinds, 'jobs', 'contentKeys']);
      const left = await (await test.request(ADMIN, 'GET', PATH)).text();
      expect(new Set(parse(left).map((line) => line.kind))).to.deep.equal(new Set(['rateWindows', 'auditEntries']));
      for (const mark of [CANARIES[ADA], CONTENTS[ADA], ...runsOfAda]) expect(left).not.to.include(mark);
    });
  });

describe("The export of a user's data", () => {
  let test: FilledHost;
  beforeEach(async () => {
    test = await FilledHost.start(DATABASES['embedded (SQLite)']);
  });
  afterEach(() => test.stop());

  it('reads no more than a page before it is asked for more', async () => {
    const responses = test.opened.database.collection<StoredDocument>(RESPONSES);
    const stored = JSON.stringify('x'.repeat(600_000));
    for (let at = 0; at < 10; at += 1) {
      const document = { _id: `r${at}`, userId: ADA, stored, usedAt: new Date() };
      await responses.insert(document);
    }
    let read = 0;
    const { database } = test.opened;
    const collection = database.collection.bind(database);
    database.collection = ((name: string) => {
      const real = collection(name);
      if (name !== RESPONSES) return real;
      const find: typeof real.find = async (selector, options) => {
        const found = await real.find(selector, options);
        if (options?.fields === undefined) read += found.length;
        return found;
      };
      return { ...real, find };
    }) as typeof collection;
    const lines = test.host.exportUserData(ADA);
    await lines.next();
    expect(read).to.equal(2);
    const kinds = new Set<string>();
    for await (const line of lines) kinds.add((JSON.parse(line) as Line).kind);
    expect(read).to.equal(10);
    expect([...kinds]).to.deep.equal(['responses', 'accessEntries', 'auditEntries']);
  });

  it('is open to the user and to admins only, limited, and recorded once', async () => {
    expect((await test.request(BOB, 'GET', PATH)).status).to.equal(403);
    const { token } = await test.host.apiTokens.tokens.issue({ userId: ADA, name: 'x', scopes: ['generate', 'read'] });
    const byToken = await test.request(undefined, 'GET', PATH, undefined, { authorization: `Bearer ${token}` });
    expect(byToken.status, 'with a token').to.equal(403);
    expect((await test.request(ADA, 'HEAD', PATH)).status).to.equal(200);
    for (let times = 1; times < 10; times += 1)
      expect((await test.request(times % 2 === 0 ? ADA : ADMIN, 'GET', PATH)).status).to.equal(200);
    const refused = await test.request(ADMIN, 'GET', PATH);
    expect(refused.status).to.equal(429);
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 3_600);
    const { entries } = await test.host.operations['ai.audit.list'](actorOf(ADMIN), { action: 'user.export_data' });
    expect(entries.filter(({ outcome }) => outcome === 'done')).to.have.length(10);
    const others = entries.filter(({ outcome }) => outcome !== 'done');
    expect(others.map(({ userId, outcome }) => [userId, outcome])).to.deep.equal([
      [ADMIN, 'failed'],
      [ADA, 'refused'],
      [BOB, 'refused'],
    ]);
  });

  it('refuses ids of users and positions that are none', async () => {
    const read = test.host.operations['ai.users.exportData'];
    const cursor = (json: string): string => Buffer.from(json).toString('base64url');
    for (const argument of [undefined, {}, { userId: '' }, { userId: { $gt: '' } }, { userId: ADMIN, all: true }])
      expect(await failure(read(actorOf(ADMIN), argument))).to.have.property('code', 'invalid-request');
    for (const after of ['', 'x', null, 1, cursor('[-1,""]'), cursor('[0,{}]'), cursor('[1,"","a"]')])
      expect(await failure(read(actorOf(ADA), { userId: ADA, after }))).to.have.property('code', 'invalid-request');
    expect(await failure(read(actorOf(ADMIN), { userId: 'system' }))).to.have.property('code', 'invalid-request');
  });
});
