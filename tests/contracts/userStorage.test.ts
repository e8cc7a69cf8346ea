/** What the requests of one user may store. */
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { CollectionBound } from '../../imports/database/StoredCollection';
import { COLLECTIONS } from '../../imports/host/collections';
import { LimitedServer } from '../support/LimitedServer';
import { until } from '../support/until';

const LIMIT = 1_024 ** 2;
/** What was admitted, and what its runs have stored since. */
const WITH_ANSWERS = LIMIT * 1.2;
const LONG = 'A long text. '.repeat(15_000);

describe('the storage of a user', () => {
  let server: LimitedServer;
  beforeEach(async () => {
    server = await LimitedServer.start({ STORAGE_MB_PER_USER: '1' });
  });
  afterEach(() => server.close());

  const run = (token: string) =>
    server.send(token, 'POST', '/api/runs', {
      ...{ providerId: 'openai', input: LONG, tools: [], requestId: randomUUID() },
    });
  const usageOf = async (token: string, query = '') => {
    const response = await server.send(token, 'GET', `/api/storage${query}`);
    return (await response.json()) as { readonly bytes: number; readonly limit: number; readonly kinds: object };
  };

  it('is filled up to the bound; a refusal says what there is, and a deletion makes room', async () => {
    const { ann, bob } = server.tokens;
    const ids: string[] = [];
    let response = await run(ann);
    for (; response.status < 300 && ids.length < 20; response = await run(ann))
      ids.push(((await response.json()) as { readonly executionId: string }).executionId);
    expect(response.status).to.equal(507);
    expect(await response.text())
      .to.include('storage-full')
      .and.to.match(/runs \d\.\d MB/);
    const part = { type: 'text', text: LONG };
    for (const [path, body] of [
      ['/api/chat', { id: 'c', model: 'openai', messages: [{ id: 'm', role: 'user', parts: [part] }] }],
      ['/api/input', { conversation: 'c', message: LONG, model: 'openai' }],
    ] as const)
      expect((await server.send(ann, 'POST', path, body)).status, path).to.equal(507);
    expect((await run(bob)).status, 'another user').to.equal(202);

    const usage = await usageOf(ann);
    expect(usage).to.include({ limit: LIMIT });
    expect(usage.bytes).to.be.within(LIMIT / 2, WITH_ANSWERS);
    expect(Object.keys(usage.kinds)[0]).to.equal('runs');
    expect(await usageOf(bob, '?userId=ann')).to.deep.equal(usage);
    for (const id of ids) await until(async () => (await server.send(ann, 'DELETE', `/api/runs/${id}`)).status === 200);
    expect((await run(ann)).status, 'after a deletion').to.equal(202);
  });

  it('is not exceeded by requests that arrive together', async () => {
    const responses = await Promise.all(Array.from({ length: 30 }, () => run(server.tokens.ann)));
    expect(responses.map(({ status }) => status)).to.include(507);
    expect((await usageOf(server.tokens.ann)).bytes).to.be.within(LIMIT / 2, WITH_ANSWERS);
  });

  it('counts what a running run stores', async () => {
    const { ann } = server.tokens;
    server.simulator.enqueue({ text: LONG.repeat(4) });
    await run(ann);
    await until(async () => (await usageOf(ann)).bytes > LIMIT * 0.9);
  });
});

describe('the collections of a server', () => {
  const namesOf = (bound: CollectionBound): readonly string[] =>
    COLLECTIONS.filter((collection) => collection.bound === bound)
      .map(({ name }) => name)
      .toSorted();

  it('are bounded as SECURITY.md says', async () => {
    const text = await readFile(join(__dirname, '../../SECURITY.md'), 'utf8');
    const [, table = ''] = text.split('| bound | collections |');
    const rows = table.split('\n').filter((line) => /^\| .* \| `ai_/.test(line));
    const listed = rows.map((row) => [...row.matchAll(/`(ai_\w+)`/g)].map(([, name]) => name));
    const bounds = ['account', 'evicted', 'entries', 'brief', 'small'] as const;
    expect(listed).to.deep.equal(bounds.map(namesOf));
  });

  it('are bounded wherever requests of users add to them', () => {
    const left = COLLECTIONS.filter(
      ({ bound, ofUsers }) =>
        bound === 'operators' && ofUsers.some(({ author, isLimit }) => author === undefined && isLimit !== true),
    );
    expect(left.map(({ name }) => name)).to.deep.equal([]);
  });
});
