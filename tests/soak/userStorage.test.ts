/** What a user stores who sends what the limits permit for ten minutes, on a clock that passes with the requests. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import sinon from 'sinon';
import { COLLECTIONS } from '../../imports/host/collections';
import { LimitedServer } from '../support/LimitedServer';

const MINUTES = 10;
const MEGABYTES = 8;
const LIMIT = MEGABYTES * 1_024 ** 2;
/** What runs in progress add, and what an entry takes that is not evicted yet. */
const EXCEEDED = 1.1;
const TEXT = 'What a user has to say. '.repeat(1_700);

describe('a user at the permitted rate', () => {
  let server: LimitedServer;
  let clock: sinon.SinonFakeTimers;
  before(async () => {
    // The limits of requests are measured by the second one.
    clock = sinon.useFakeTimers({ now: Date.now(), toFake: ['Date', 'performance'] });
    server = await LimitedServer.start({
      ...{ STORAGE_MB_PER_USER: String(MEGABYTES), MCP_TOOLS: '*', REQUEST_LOG_BODIES: 'on' },
    });
  });
  after(async () => {
    clock.restore();
    await server.close();
  });

  it('stays within the bound of each collection for ten minutes', async () => {
    const token = await server.issue('greedy');
    const statuses = new Map<string, number>();
    const runs: string[] = [];
    let last: string | undefined;
    const send = async (name: string, method: string, path: string, body?: object): Promise<string> => {
      const response = await server.send(token, method, path, body);
      const text = await response.text();
      const key = `${name} ${response.status}`;
      statuses.set(key, (statuses.get(key) ?? 0) + 1);
      return text;
    };
    const start = async (name: string, fields: object): Promise<void> => {
      const body = { requestId: randomUUID(), providerId: 'openai', tools: [], ...fields };
      const { executionId } = JSON.parse(await send(name, 'POST', '/api/runs', body)) as {
        readonly executionId?: string;
      };
      if (executionId === undefined) return;
      runs.push(executionId);
      last = executionId;
    };
    const message = () => ({ id: randomUUID(), role: 'user', parts: [{ type: 'text', text: TEXT + randomUUID() }] });
    const input = (conversation: string) =>
      send('input', 'POST', '/api/input', { conversation, message: TEXT + randomUUID(), model: 'openai' });
    const respond = (fields: object) =>
      send('responses', 'POST', '/v1/responses', { model: 'openai', input: TEXT + randomUUID(), ...fields });
    /** Twenty requests: 1,200 in a minute, 300 of which start runs. */
    const second = (number: number): readonly Promise<unknown>[] => [
      start('runs', { input: TEXT + randomUUID() }),
      last === undefined ? input('c') : start('continues', { continues: last, input: 'Go on.' }),
      send('chat', 'POST', '/api/chat', {
        id: `chat-${number % 7}`,
        model: 'openai',
        messages: [message(), message()],
      }),
      send('ag-ui', 'POST', '/api/ag-ui', {
        ...{ threadId: `t-${number % 7}`, runId: randomUUID(), messages: [{ id: 'm', role: 'user', content: TEXT }] },
        ...{ tools: [], context: [], state: {}, forwardedProps: { bolide: { model: 'openai' } } },
      }),
      start('runs', { input: TEXT + randomUUID() }),
      input('one'),
      input(`conversation-${number % 50}`),
      respond({}),
      respond({ background: true }),
      respond({ stream: true }),
      send('conversations', 'POST', '/v1/conversations', { items: [{ role: 'user', content: TEXT }] }),
      send('memories', 'POST', '/api/memories', { text: `${TEXT.slice(0, 1_900)}${number}` }),
      send('memories', 'POST', '/api/memories', { text: `${TEXT.slice(0, 1_800)}${number}` }),
      send('prompts', 'POST', '/api/prompts', { name: `prompt-${number}`, content: { input: TEXT } }),
      send('prompts', 'POST', '/api/prompts', { name: 'prompt', content: { input: `${TEXT}${number}` } }),
      send('batches', 'POST', '/api/batches', {
        ...{ batchId: randomUUID(), providerId: 'openai', requests: [{ input: TEXT }, { input: TEXT }] },
      }),
      send('signal', 'POST', `/api/runs/${last ?? 'none'}/signal`, { name: 'go', payload: { text: TEXT } }),
      send('delete', 'DELETE', `/api/runs/${runs.shift() ?? 'none'}`),
      send('storage', 'GET', '/api/storage'),
      send('list', 'GET', '/api/runs'),
    ];

    const largest = new Map<string, number>();
    let largestAccount = 0;
    for (let minute = 1; minute <= MINUTES; minute += 1) {
      for (let number = 0; number < 60; number += 1) {
        await Promise.all(second(minute * 60 + number));
        clock.tick(1_000);
      }
      const stored = await storedOf('greedy');
      for (const [name, bytes] of stored) largest.set(name, Math.max(bytes, largest.get(name) ?? 0));
      const account = sum(stored, 'account');
      largestAccount = Math.max(largestAccount, account);
      console.log(`minute ${minute}: account ${inMegabytes(account)}`);
    }

    const rows = [...largest].toSorted(([, one], [, other]) => other - one);
    console.log(`of ${MEGABYTES} MB, at most in ${MINUTES} minutes: account ${inMegabytes(largestAccount)}`);
    for (const [name, bytes] of rows) console.log(`  ${boundOf(name)} ${name} ${inMegabytes(bytes)}`);
    console.log(
      [...statuses]
        .toSorted()
        .map(([key, count]) => `${key}: ${count}`)
        .join(', '),
    );
    const refused = [...statuses].filter(([key]) => key.endsWith(' 429')).reduce((count, [, each]) => count + each, 0);
    expect(refused, 'requests beyond the permitted rate').to.be.below(0.05 * MINUTES * 60 * 20);
    expect(largestAccount).to.be.within(LIMIT / 2, LIMIT * EXCEEDED);
    for (const [name, bytes] of rows) expect(bytes, name).to.be.below(LIMIT * EXCEEDED);
    expect([...statuses.keys()]).to.include.members(['runs 507', 'continues 507', 'chat 507', 'batches 507']);
  });

  async function storedOf(userId: string): Promise<ReadonlyMap<string, number>> {
    const stored = new Map<string, number>();
    for await (const line of server.server.host.exportUserData(userId)) {
      const { collection } = JSON.parse(line) as { readonly collection?: string };
      // The last line says that the export is complete.
      if (collection !== undefined) stored.set(collection, (stored.get(collection) ?? 0) + Buffer.byteLength(line));
    }
    return stored;
  }
});

function boundOf(name: string): string {
  return COLLECTIONS.find((collection) => collection.name === name)?.bound ?? 'unknown';
}

function sum(stored: ReadonlyMap<string, number>, bound: string): number {
  return [...stored].reduce((total, [name, bytes]) => total + (boundOf(name) === bound ? bytes : 0), 0);
}

function inMegabytes(bytes: number): string {
  return `${(bytes / 1_024 ** 2).toFixed(2)} MB`;
}
