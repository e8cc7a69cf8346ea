/**
 * Messages to runs of three processes over one database, which are killed with `kill -9` at any time: the model
 * receives each message once, and in order.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { textOfContent } from '../../imports/business/ai/domain/entities/Content';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import type { DocumentRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import type { Item } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { DocumentDatabase } from '../../imports/database/DocumentDatabase';
import { openDatabase } from '../../imports/database/openDatabase';
import { answer, calling } from '../../imports/testing/responses';
import { seededRandom } from '../../scripts/seed/seededRandom';
import { RunChild } from '../support/durable/runChildren';
import { startTestMongo } from '../support/startTestMongo';
import type { TestMongo } from '../support/startTestMongo';

const SEED = Number(process.env['BOLIDE_SEED'] ?? Date.now() % 1_000_000);
const RUNS = ['run-a', 'run-b', 'run-c', 'run-d'];
const MESSAGES = 100;
/** A process is killed after so many messages. */
const KILL_EVERY = 4;
/** Milliseconds. */
const LEASE = 600;
const PROCESSES = 3;
const TIMES = ['next', 'next', 'interrupt', 'after'] as const;

interface Sent {
  readonly id: string;
  readonly run: string;
  readonly when: (typeof TIMES)[number];
}

/** The texts of a user's messages that the test has sent. */
function textsOf(items: readonly Item[]): readonly string[] {
  return items
    .flatMap((item) => (item.type === 'message' && item.role === 'user' ? [textOfContent(item.content)] : []))
    .filter((text) => text.startsWith('m-'));
}

describe('messages to runs whose processes are killed', () => {
  const random = seededRandom(SEED);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  const requests: { readonly run: string; readonly items: readonly Item[] }[] = [];
  const children: RunChild[] = [];
  let calls = 0;
  const model = createServer((request, response) => {
    void json(request).then(async (body) => {
      const { run, items } = body as { readonly run: string; readonly items: readonly Item[] };
      requests.push({ run, items });
      await delay(5 + Math.floor(random() * 60));
      calls += 1;
      const isFirst = !items.some((item) => item.type === 'function_call' && item.name === 'job');
      const isAsked = items.at(-1)?.type === 'message' && random() < 0.4;
      const reply = isFirst
        ? calling({ name: 'job', call_id: `job-${run}` })
        : isAsked
          ? calling({ name: 'note', call_id: `note-${calls}` })
          : answer(`Answer ${calls}.`);
      response.end(JSON.stringify(reply));
    });
  });
  let mongo: TestMongo;
  let database: DocumentDatabase;
  let store: DocumentRunStore;
  let url: string;

  before(async () => {
    await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(model.address() as AddressInfo).port}/`;
    mongo = await startTestMongo();
    database = await openDatabase({ MONGO_URL: mongo.url });
    store = await openRunStore(database);
  });
  after(async () => {
    await Promise.all(children.map((child) => child.kill()));
    model.closeAllConnections();
    model.close();
    await database.close();
    await mongo.stop();
  });

  const start = async (): Promise<RunChild> => {
    const child = await RunChild.start(url, mongo.url, LEASE, 'messageProcess.ts');
    children.push(child);
    await child.waitForLines(1, (line) => line === 'ready');
    return child;
  };
  /** Looks until it is so; the time limit of the test ends it. */
  const until = async (isTrue: () => Promise<boolean>): Promise<void> => {
    while (!(await isTrue())) await delay(25);
  };

  it(`deliver each once and in order (seed ${SEED})`, async () => {
    const alive = await Promise.all(Array.from({ length: PROCESSES }, start));
    for (const [index, run] of RUNS.entries()) alive[index % PROCESSES]!.run(run);
    await until(async () =>
      (await Promise.all(RUNS.map((run) => store.load(run)))).every((stored) => stored !== undefined),
    );
    const sent: Sent[] = [];
    let kills = 0;
    let repeated = 0;
    for (let count = 1; count <= MESSAGES; count += 1) {
      const message: Sent = { id: `m-${count}`, run: pick(RUNS), when: pick(TIMES) };
      sent.push(message);
      const isTold = (line: string): boolean => line.startsWith(`sent ${message.id} `);
      const isToBeKilled = count % KILL_EVERY === 0;
      for (let isSent = false; !isSent;) {
        const at = Math.floor(random() * PROCESSES);
        const child = alive[at]!;
        child.write(`send ${message.run} ${message.id} ${message.when}`);
        const told = child.waitForLines(1, isTold).then(
          (line) => line,
          () => undefined,
        );
        if (isToBeKilled && !child.process.killed) {
          await delay(Math.floor(random() * 25));
          await child.kill();
          kills += 1;
          alive[at] = await start();
        }
        const line = await told;
        isSent = line !== undefined;
        if (line?.endsWith('repeated') === true) repeated += 1;
        // The one that was killed may have stored it: it is sent again under its id, by any process.
        if (!isSent) alive.forEach((each) => expect(each.failures).to.deep.equal([]));
      }
    }
    await until(async () =>
      (await Promise.all(RUNS.map((run) => store.messages.list(run)))).flat().every(({ when }) => when === 'after'),
    );
    // Messages for after the answer wait for it as well.
    for (const run of RUNS) alive[0]!.write(`finish ${run} job-${run}`);
    await until(async () =>
      (await Promise.all(RUNS.map((run) => store.load(run)))).every((stored) => stored?.run.endedAt !== undefined),
    );
    for (const { failures } of children) expect(failures).to.deep.equal([]);
    for (const run of RUNS) {
      const stored = await store.load(run);
      expect(stored?.run.state, run).to.equal('completed');
      const received = textsOf(stored?.run.transcript ?? []);
      const own = sent.filter((message) => message.run === run);
      expect(received.toSorted(), run).to.deep.equal(own.map(({ id }) => id).toSorted());
      const inOrder = (isLater: boolean): readonly string[] =>
        own.filter(({ when }) => (when === 'after') === isLater).map(({ id }) => id);
      for (const expected of [inOrder(false), inOrder(true)])
        expect(
          received.filter((id) => expected.includes(id)),
          run,
        ).to.deep.equal(expected);
      for (const { items } of requests.filter((request) => request.run === run)) {
        const texts = textsOf(items);
        // Each request has what the ones before had, and nothing twice.
        expect(texts, run).to.deep.equal(received.slice(0, texts.length));
      }
    }
    console.log(`      ${MESSAGES} messages, ${kills} kills, ${repeated} sent again, ${requests.length} model calls`);
  });
});
