/** The log of model calls of a plain-Node host: over HTTP, live, and across a restart. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Topic } from '../../imports/business/ai/domain/types/Topics';
import type { RequestDetail, RequestPage } from '../../imports/business/requestLog/domain/RequestReader';
import type { RunningServer } from '../../imports/host/node/startServer';
import { CANARY } from '../support/canaries';
import { startStandalone } from '../support/startStandalone';
import { until } from '../support/until';
import { itInVirtualTime } from '../support/itInVirtualTime';

/** The simulator repeats it, so it is no canary. */
const SECRET = 'sk-0123456789abcdef';
const TOKEN = `${CANARY}-of-local`;

describe('The request log of a host', () => {
  let directory: string;
  let server: RunningServer;
  const start = (env = {}): Promise<RunningServer> =>
    startStandalone({ DATA_DIR: directory, BOLIDE_API_TOKEN: TOKEN, ...env });
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-requests-'));
    server = await start({ REQUEST_LOG_BODIES: 'on' });
  });
  afterEach(async () => {
    await server.close();
    await rm(directory, { recursive: true });
  });

  const send = async (path: string, body?: object): Promise<Response> =>
    fetch(server.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const ask = async (): Promise<void> => {
    const response = await send('/v1/responses', {
      model: 'openai',
      input: `Repeat cobalt. My key is ${SECRET}.`,
    });
    expect(response.status, await response.text()).to.equal(200);
  };
  const list = async (query = ''): Promise<RequestPage> =>
    (await (await send(`/requests${query}`)).json()) as RequestPage;

  itInVirtualTime('is complete after a restart, since closing the host writes what waits', async () => {
    for (let call = 0; call < 5; call += 1) await ask();
    await server.close();
    server = await start();
    const { requests, total } = await list('?state=completed,failed&limit=2&api=responses');
    expect(total).to.equal(5);
    expect(requests).to.have.length(2);
    expect(requests[0]).to.deep.include({ source: 'gateway', tokenName: 'local use', state: 'completed' });
  });

  itInVirtualTime('returns a request with its bodies, without secrets', async () => {
    await ask();
    await server.host.requestLog.flush();
    const [request] = (await list()).requests;
    const detail = (await (await send(`/api/requests/${request?._id}`)).json()) as RequestDetail;
    expect(detail.logsBodies).to.equal(true);
    expect(detail.bodies?.request).to.include('Repeat cobalt.').and.not.to.include(SECRET);
    expect(detail.bodies?.response).to.include('"status":"completed"');
    const [exchange, ...more] = detail.bodies?.exchanges ?? [];
    expect(more).to.deep.equal([]);
    expect(exchange).to.include({ providerId: 'openai', wire: 'responses', status: 200 });
    expect(exchange?.request).to.include('Repeat cobalt.').and.not.to.include(SECRET);
    expect(JSON.parse(exchange?.response ?? '')).to.have.property('object', 'response');
    expect((await send('/api/requests/unknown')).status).to.equal(404);
    expect((await send('/api/requests?limit=0')).status).to.equal(400);
  });

  itInVirtualTime('names the API and the token of runs, and what the queue starts', async () => {
    const started = await send('/api/runs', { requestId: 'r', providerId: 'openai', input: 'Hello', tools: [] });
    expect(started.status).to.equal(202);
    const message = { id: 'm', role: 'user' };
    await (
      await send('/api/chat', { id: 'c', messages: [{ ...message, parts: [{ type: 'text', text: 'Hello' }] }] })
    ).text();
    const agUi = { threadId: 't', runId: 'a', messages: [{ ...message, content: 'Hello' }] };
    await (await send('/api/ag-ui', { ...agUi, state: {}, tools: [], context: [], forwardedProps: {} })).text();
    const queued = { requestId: 'q', providerId: 'openai', input: 'Hello', tools: [] };
    await server.host.module.useCases.queueRun.execute({ userId: 'local', source: 'method' }, queued);
    await until(async () => {
      await server.host.requestLog.flush();
      return (await list()).total === 4;
    });
    const { requests } = await list();
    expect(requests.map(({ source, api, tokenName }) => [source, api, tokenName])).to.have.deep.members([
      ['run', 'runs', 'local use'],
      ['run', 'ai_sdk', 'local use'],
      ['run', 'ag_ui', 'local use'],
      ['job', undefined, undefined],
    ]);
    expect(requests.every(({ executionId, iteration }) => executionId !== undefined && iteration === 1)).to.equal(true);
    expect((await list('?source=job')).total).to.equal(1);
  });

  itInVirtualTime('notifies open pages of new entries', async () => {
    const seen: Topic[] = [];
    const stop = server.host.changes.subscribe({ userId: 'local', source: 'http' }, (topics) => seen.push(...topics));
    await ask();
    await until(() => seen.includes('requests'));
    expect((await list()).total).to.equal(1);
    stop();
  });

  itInVirtualTime('is empty where it is switched off', async () => {
    await server.close();
    server = await start({ REQUEST_LOG: 'off' });
    await ask();
    await send('/v1/responses', { model: 'nowhere/x', input: 'Hello' });
    await server.host.requestLog.flush();
    expect((await list()).total).to.equal(0);
  });
});
