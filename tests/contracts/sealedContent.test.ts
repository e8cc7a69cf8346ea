/**
 * What is on the disk: with sealing, nothing that users wrote or were answered; after the deletion of a user, nothing
 * of theirs. Every file of the data directory is read.
 */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect } from 'chai';
import { openDatabase } from '../../imports/database/openDatabase';
import { readSqlite } from '../../imports/database/sqlite/maintenance/readSqlite';
import { collectionOfTable } from '../../imports/database/sqlite/names';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { COLLECTIONS } from '../../imports/host/collections';
import { CONTENT_KEYS } from '../../imports/business/privacy/infrastructure/UserContentKeys';
import type { ContentKeyDocument } from '../../imports/business/privacy/infrastructure/UserContentKeys';
import { ADA, ADMIN, BOB, CANARIES, CONTENTS, FilledHost, marksOf, SHARED_PROVIDER } from '../support/FilledHost';
import { newKey } from '../support/oauth/ProvidersHost';
import { until } from '../support/until';
import { allInSoak, itInSoak } from '../support/soak';
import { inFlowingTime } from '../support/VirtualTime';

const KEYS = newKey('k1');
/** The embedded database stores texts of this length apart from their documents. */
const LONG = 20_000;

/** A text in every form in which a file might have it: plain, in base64 at each offset, in hexadecimal, in UTF-16. */
function formsOf(text: string): readonly Buffer[] {
  const bytes = Buffer.from(text);
  const base64 = [0, 1, 2].flatMap((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // The characters at both ends depend on what is beside the text.
    const inner = encoded.slice(offset === 0 ? 0 : offset + 1, -1);
    return [inner, inner.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [bytes, Buffer.from(text, 'utf16le'), ...[...base64, bytes.toString('hex')].map((form) => Buffer.from(form))];
}

describe(
  'The files of the data directory',
  inFlowingTime(() => {
    let directory: string;
    let test: FilledHost;
    let simulator: Simulator;

    beforeEach(async () => {
      directory = await mkdtemp(join(tmpdir(), 'bolide-sealed-'));
      simulator = await startSimulator();
    });
    afterEach(async () => {
      await test.stop();
      await simulator.close();
      await rm(directory, { recursive: true });
    });

    async function start(sealContent: boolean, secretKeys = KEYS): Promise<FilledHost> {
      const open = async () => {
        const database = await openDatabase({ DATA_DIR: directory });
        return { database, expire: () => Promise.resolve(), close: () => database.close() };
      };
      return (test = await FilledHost.start(open, { sealContent, secretKeys, simulator }));
    }

    async function restart(sealContent: boolean, secretKeys = KEYS): Promise<FilledHost> {
      await test.stop();
      return start(sealContent, secretKeys);
    }

    async function fill(userId: string): Promise<{ readonly runs: readonly string[]; readonly responseId: string }> {
      const runs = await test.fill(userId);
      simulator.enqueue({ text: `${CONTENTS[userId]} ${'x'.repeat(LONG)}` });
      const response = await test.request(userId, 'POST', '/v1/responses', {
        model: SHARED_PROVIDER,
        input: `${CONTENTS[userId]} ${'y'.repeat(LONG)}`,
      });
      expect(response.status).to.equal(200);
      const { id: responseId } = (await response.json()) as { readonly id: string };
      await test.host.requestLog.flush();
      return { runs, responseId };
    }

    /** The files that contain the text in any form, by their first name. */
    async function filesWith(text: string): Promise<ReadonlySet<string>> {
      const forms = formsOf(text);
      const found = new Set<string>();
      for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile()) continue;
        const path = join(entry.parentPath, entry.name);
        const content = await readFile(path);
        if (forms.some((form) => content.includes(form))) found.add(relative(directory, path).split('.')[0] ?? path);
      }
      return found;
    }

    /** The collections whose tables contain the text in any form. */
    async function collectionsWith(text: string): Promise<readonly string[]> {
      const forms = formsOf(text);
      const found = new Set<string>();
      await test.opened.database.purge?.();
      await readSqlite(directory, async (file) => {
        for (const { name } of file.all("SELECT name FROM sqlite_master WHERE type = 'table'"))
          for (const row of file.all(`SELECT * FROM "${String(name)}"`)) {
            const values = Object.values(row).flatMap((value) =>
              typeof value === 'string' || value instanceof Uint8Array ? [Buffer.from(value as string)] : [],
            );
            if (values.some((value) => forms.some((form) => value.includes(form))))
              found.add(collectionOfTable(String(name).split('.')[0] ?? '') ?? '');
          }
      });
      return [...found].toSorted();
    }

    /** Reads a user's content back in each of the ways in which it is stored. */
    async function readBack(userId: string, runId: string, responseId: string): Promise<void> {
      const content = CONTENTS[userId] ?? '';
      const get = async (path: string, user = userId): Promise<string> => {
        const response = await test.request(user, 'GET', path);
        const text = await response.text();
        expect(response.status, `${path}: ${text}`).to.equal(200);
        return text;
      };
      const run = await get(`/api/runs/${encodeURIComponent(runId)}`);
      expect(run, 'the transcript, and the call')
        .to.include(`The answer about ${content}.`)
        .and.include(`Noon, ${content}`);
      expect(await get('/api/runs'), 'titles').to.include(`Ask about ${content}`);
      expect(await get(`/v1/responses/${responseId}`)).to.include(content);
      expect(await get('/api/chat/c')).to.include(content);
      expect(await get(`/api/memories/search?query=${content}`)).to.include(`Likes ${content}.`);
      const { prompts } = JSON.parse(await get('/api/prompts')) as {
        readonly prompts: readonly { readonly _id: string }[];
      };
      expect(await get(`/api/prompts/${prompts[0]?._id}`)).to.include(content);
      const { requests } = JSON.parse(
        await get(`/api/requests?limit=1&userId=${encodeURIComponent(userId)}`, ADMIN),
      ) as {
        readonly requests: readonly { readonly _id: string }[];
      };
      expect(await get(`/api/requests/${requests[0]?._id}`, ADMIN)).to.include(content);
      expect(await get(`/api/user-data/${encodeURIComponent(userId)}`), 'the export')
        .to.include(`The answer about ${content}.`)
        .and.include(responseId);
      simulator.enqueue({ text: `A chat about ${content}.` });
      const { handler } = test.host.module.conversations;
      await handler.handleMessage(userId, 'chat', 'And before?', { model: SHARED_PROVIDER });
      expect(JSON.stringify(simulator.requests.at(-1)), 'the history').to.include(`A chat about ${content}.`);
      const cached = await test.request(
        userId,
        'POST',
        '/v1/responses',
        { model: SHARED_PROVIDER, input: content },
        { 'x-bolide-cache': 'max-age=3600' },
      );
      expect(cached.headers.get('x-bolide-cache')).to.match(/hit/i);
      expect(await cached.text()).to.include(`A response about ${content}.`);
    }

    it('contain content of every kind in plain text without sealing, and what a user chose as names with it', async () => {
      await start(false);
      await fill(ADA);
      const kinds = COLLECTIONS.flatMap(({ name, content }) => (content === null ? [] : [name]));
      // The only content of these is of failures, and of guardrails. The last one is for several processes.
      const filled = kinds.filter((name) => !['ai_requests', 'ai_job_states', 'ai_run_events'].includes(name));
      expect(await collectionsWith(CONTENTS[ADA] ?? '')).to.deep.equal(filled.toSorted());
      expect(await collectionsWith(CANARIES[ADA] ?? '')).to.include('ai_prompts');
    });

    it('contain no content with sealing, which the host reads all the same, also after a restart', async () => {
      await start(true);
      const { runs, responseId } = await fill(ADA);
      expect([...(await filesWith(CONTENTS[ADA] ?? ''))]).to.deep.equal([]);
      expect(await collectionsWith(CANARIES[ADA] ?? '')).to.include('ai_prompts');
      await readBack(ADA, runs[0] ?? '', responseId);
      await restart(true);
      await readBack(ADA, runs[0] ?? '', responseId);
      expect([...(await filesWith(CONTENTS[ADA] ?? ''))]).to.deep.equal([]);
    });

    it('contain no errors of vendors with sealing, nor the words of titles', async () => {
      const content = CONTENTS[ADA] ?? '';
      const fail = async (): Promise<void> => {
        simulator.enqueue({
          status: 400,
          body: { error: { message: `Unknown value: ${content}`, code: 'invalid' } },
        });
        const body = { model: SHARED_PROVIDER, input: content };
        expect((await test.request(ADA, 'POST', '/v1/responses', body)).status).to.equal(400);
        await test.host.requestLog.flush();
      };
      await start(false);
      await fail();
      expect(await collectionsWith(content)).to.include('ai_requests');
      await test.stop();
      await rm(directory, { recursive: true });
      await start(true);
      await fail();
      expect([...(await filesWith(content))]).to.deep.equal([]);
      expect([...(await filesWith(content.toLowerCase()))]).to.deep.equal([]);
    });

    it('contain no errors of scheduled tasks with sealing, which are shown all the same', async () => {
      const content = CONTENTS[ADA] ?? '';
      const admin = { userId: ADMIN, isAdmin: true, source: 'http' } as const;
      const fail = async (): Promise<void> => {
        const { module, operations } = test.host;
        const task = { name: 'digest', cron: '0 3 1 1 *' };
        await module.jobs.schedule(task, () => Promise.reject(new Error(`Cannot summarize "${content}".`)));
        await operations['ai.schedules.runNow'](admin, { name: 'digest' });
        const lastError = async (): Promise<string | undefined> =>
          (await operations['ai.schedules.list'](admin)).find(({ name }) => name === 'digest')?.lastRun?.error;
        await until(async () => (await lastError()) !== undefined);
        expect(await lastError()).to.include(content);
      };
      await start(false);
      await fail();
      expect(await collectionsWith(content)).to.deep.equal(['ai_job_states']);
      await test.stop();
      await rm(directory, { recursive: true });
      await start(true);
      await fail();
      expect([...(await filesWith(content))]).to.deep.equal([]);
    });

    itInSoak('stay readable when sealing is switched on, and when it is switched off again', async () => {
      await start(false);
      const clear = await fill(ADA);
      await restart(true);
      await readBack(ADA, clear.runs[0] ?? '', clear.responseId);
      const sealed = await fill(BOB);
      expect([...(await filesWith(CONTENTS[BOB] ?? ''))]).to.deep.equal([]);
      await restart(false);
      await readBack(ADA, clear.runs[0] ?? '', clear.responseId);
      await readBack(BOB, sealed.runs[0] ?? '', sealed.responseId);
      simulator.enqueue({ text: 'In plain text.' });
      await test.request(BOB, 'POST', '/v1/responses', { model: SHARED_PROVIDER, input: `Now ${CONTENTS[BOB]}` });
      expect(await collectionsWith(CONTENTS[BOB] ?? '')).to.include('ai_responses');
    });

    itInSoak(
      'stay readable when the operator rotates keys, which seals the keys of users anew and nothing else',
      async () => {
        await start(true);
        const { runs, responseId } = await fill(ADA);
        const keysOf = (): Promise<readonly ContentKeyDocument[]> =>
          test.opened.database.collection<ContentKeyDocument>(CONTENT_KEYS).find({ userId: ADA });
        const [before] = await keysOf();
        const documents = await test.dump();
        const added = newKey('k2');
        await restart(true, `${added},${KEYS}`);
        const rotated = await test.host.operations['ai.providers.rotateKeys']({
          userId: ADMIN,
          isAdmin: true,
          source: 'http',
        });
        expect(rotated).to.include({ unopened: 0 });
        const [after] = await keysOf();
        expect(after).to.include({ _id: before?._id, keyId: 'k2' });
        expect((await test.dump()).get('ai_responses')).to.deep.equal(documents.get('ai_responses'));
        await restart(true, added);
        await readBack(ADA, runs[0] ?? '', responseId);
      },
    );

    for (const sealContent of allInSoak([true, false], 1))
      it(`contain nothing of a user who was deleted, ${sealContent ? 'with' : 'without'} sealing`, async () => {
        await start(sealContent);
        const ada = await fill(ADA);
        const bob = await fill(BOB);
        const marks = marksOf(ADA, ada.runs);
        expect([...(await filesWith(ADA))]).to.include('bolide');
        const deleted = await test.host.deleteUserData(ADA);
        for (const mark of marks) expect([...(await filesWith(mark))], mark).to.deep.equal([]);
        if (sealContent) expect(deleted).to.have.property('contentKeys', 1);
        expect([...(await filesWith(BOB))]).to.include('bolide');
        await readBack(BOB, bob.runs[0] ?? '', bob.responseId);
      });

    it('that are restored without the key of a deleted user are unreadable, and leave others readable', async () => {
      await start(true);
      const ada = await fill(ADA);
      const bob = await fill(BOB);
      await test.opened.database.collection(CONTENT_KEYS).remove({ userId: ADA });
      await restart(true);
      expect((await test.request(ADA, 'GET', `/v1/responses/${ada.responseId}`)).status).to.equal(404);
      const listed = await (await test.request(ADMIN, 'GET', '/api/runs')).text();
      expect(listed).to.include(bob.runs[0]).and.not.include(ada.runs[0]);
      await readBack(BOB, bob.runs[0] ?? '', bob.responseId);
    });
  }),
);
