import { expect } from 'chai';
import type { AgentEvent } from '../../../../../imports/business/ai/domain/types/AgentEvents';
import type { RunView } from '../../../../../imports/business/ai/domain/types/RunViews';
import { HttpData } from '../../../../../imports/ui/data/http/HttpData';
import { createHttpCommands } from '../../../../../imports/ui/data/http/httpCommands';
import type { Readable } from '../../../../../imports/ui/data/http/Observable';
import { NO_TOKENS } from '../../../../../imports/ui/data/reducers/runUsage';
import { DashboardServer } from '../../../../support/DashboardServer';
import { deferred } from '../../../../support/deferred';
import { recordedRun, RUN_ID, snapshotAfter } from '../../../../support/recordedRun';

const ROW: RunView = {
  _id: RUN_ID,
  userId: 'ann',
  providerId: 'scripted',
  state: 'running',
  createdAt: 1,
  iterations: 0,
  usage: NO_TOKENS,
  title: 'go',
};

describe('HttpData', () => {
  let server: DashboardServer;
  let data: HttpData;
  let leave: (() => void)[];
  beforeEach(async () => {
    server = new DashboardServer();
    await server.start();
    leave = [];
    data = new HttpData({ fetch, origin: server.url, schedule: setImmediate, reloadEvery: 1, backoff: () => 1 });
    server.answers.set('GET /runs', { body: { runs: [ROW] } });
    server.answers.set(`GET /runs/${RUN_ID}`, { body: snapshotAfter([]) });
  });
  afterEach(async () => {
    for (const stop of leave) stop();
    await server.close();
  });

  /** Resolves with the first value that fits; readers stay until the test ends. */
  const until = <T>(readable: Readable<T>, fits: (value: T) => boolean): Promise<T> =>
    new Promise((resolve) => {
      const look = (): void => {
        const value = readable.get();
        if (fits(value)) resolve(value);
      };
      leave.push(readable.subscribe(look));
      look();
    });
  const ready = { state: 'ready' } as const;
  const isReady = ({ state }: { readonly state: string }): boolean => state === 'ready';
  const event = (body: object): AgentEvent => ({ executionId: RUN_ID, at: 5, seq: 1, ...body }) as AgentEvent;

  it('fetches once the stream is there, and follows every event of a run to its end', async () => {
    const events = await recordedRun();
    await until(data.runs, isReady);
    expect(server.requests.findIndex(({ line }) => line === 'GET /runs')).to.be.above(
      server.requests.findIndex(({ line }) => line === 'GET /runs/stream?brief'),
    );
    server.answers.set('GET /runs', () => ({ body: { runs: [snapshotAfter(events).run] } }));
    server.tell(...events);
    const { value } = (await until(
      data.runs,
      (shown) => shown.state === 'ready' && shown.value[0]?.state === 'completed',
    )) as { value: readonly RunView[] };
    expect(value[0]!.usage).to.deep.equal(snapshotAfter(events).run.usage);
  });

  it('applies what happened while it fetched', async () => {
    const gate = deferred();
    server.answers.set('GET /runs', async () => {
      await gate.promise;
      return { body: { runs: [ROW] } };
    });
    const done = until(data.runs, isReady);
    await until(data.connectionState, (state) => state === 'live');
    server.tell(
      event({ type: 'run:started', userId: 'ann', model: 'm' }),
      event({ type: 'tool:approval_required', callId: 'c', name: 'n', arguments: '{}', argumentsHash: 'h', seq: 2 }),
    );
    // The frames have been read when a later answer of the same server has.
    await data.connection.get('/nothing').catch(() => undefined);
    gate.resolve();
    const shown = await until(data.runs, (value) => value.state === 'ready' && value.value[0]?.asking.length === 1);
    await done;
    expect(shown).to.deep.include(ready);
  });

  it('watches one run with its text, and knows when there is none', async () => {
    const events = await recordedRun();
    const gone = await until(data.run('nobody'), isReady);
    expect(gone).to.deep.equal({ state: 'ready', value: undefined });
    await until(data.run(RUN_ID), isReady);
    let told = 0;
    server.answers.set(`GET /runs/${RUN_ID}`, () => ({ body: snapshotAfter(events.slice(0, told)) }));
    for (const each of events) {
      told += 1;
      server.tell(each);
      if (each.type === 'llm:delta')
        await until(
          data.run(RUN_ID),
          (shown) => shown.state === 'ready' && shown.value?.live.text.endsWith(each.delta) === true,
        );
    }
    await until(data.run(RUN_ID), (shown) => shown.state === 'ready' && shown.value?.run.state === 'completed');
  });

  it('fetches again when it is told that something was missed, and when the stream broke', async () => {
    await until(data.runs, isReady);
    server.answers.set('GET /runs', { body: { runs: [{ ...ROW, title: 'after resync' }] } });
    server.send('event: resync\ndata: {}\n\n');
    await until(data.runs, (shown) => shown.state === 'ready' && shown.value[0]?.title === 'after resync');
    server.tell(event({ type: 'iteration:start', iteration: 1 }));
    await until(data.runs, (shown) => shown.state === 'ready' && shown.value[0]?.iterations === 1);
    server.answers.set('GET /runs', { body: { runs: [{ ...ROW, title: 'after the cut' }] } });
    server.cut();
    await until(data.connectionState, (state) => state === 'lost');
    await until(data.runs, (shown) => shown.state === 'ready' && shown.value[0]?.title === 'after the cut');
    await until(data.connectionState, (state) => state === 'live');
    expect(
      server.requests.filter(({ line }) => line === 'GET /runs/stream?brief').at(-1)?.lastEventId,
      'where it was',
    ).to.equal('1');
  });

  it('fetches the list for a run that it does not know, and looks whether older ones wait for somebody', async () => {
    await until(data.runs, isReady);
    server.answers.set('GET /runs', { body: { runs: [{ ...ROW, _id: 'new' }, ROW] } });
    server.answers.set('GET /runs/new', {
      body: {
        ...snapshotAfter([]),
        toolCalls: [
          {
            _id: 'new:c',
            executionId: 'new',
            callId: 'c',
            name: 'n',
            blocking: true,
            state: 'awaiting_approval',
            arguments: '{}',
          },
        ],
      },
    });
    server.tell(event({ type: 'run:started', executionId: 'new', userId: 'ann', model: 'm' }));
    const shown = await until(data.runs, (value) => value.state === 'ready' && value.value.length === 2);
    expect(shown.state === 'ready' && shown.value.map(({ asking }) => asking)).to.deep.equal([['c'], []]);
  });

  it('says what went wrong, and tries again when it is asked to', async () => {
    server.answers.set('GET /runs', {
      status: 503,
      body: { error: { code: 'overloaded', message: 'Later, please.' } },
    });
    const failed = await until(data.runs, (shown) => shown.state === 'failed');
    expect(failed).to.deep.include({ state: 'failed', error: { code: 'overloaded', message: 'Later, please.' } });
    server.answers.set('GET /runs', { body: { runs: [] } });
    if (failed.state === 'failed') failed.retry();
    await until(data.runs, isReady);
  });

  it('keeps what it shows when a later fetch fails', async () => {
    await until(data.runs, isReady);
    const asked = deferred();
    server.answers.set('GET /runs', () => {
      asked.resolve();
      return { status: 500 };
    });
    server.send('event: resync\ndata: {}\n\n');
    await asked.promise;
    await data.connection.get('/nothing').catch(() => undefined);
    expect(data.runs.get().state).to.equal('ready');
  });

  it('knows that it is signed out, and signs in with the token', async () => {
    server.answers.set('GET /session', {
      status: 401,
      body: { error: { code: 'auth-failed', message: 'Who are you?' } },
    });
    server.answers.set('POST /session', {
      status: 401,
      body: { error: { code: 'auth-failed', message: 'This is not a token of this server.' } },
    });
    await data.begin();
    expect(data.access.get()).to.deep.equal({ state: 'signedOut', means: 'token' });
    const commands = createHttpCommands(data);
    const refused: unknown = await commands.signIn({ means: 'token', token: 'no' }).catch((error: unknown) => error);
    expect(refused).to.include({ code: 'auth-failed', message: 'This is not a token of this server.' });
    server.answers.set('POST /session', { body: { userId: 'local' } });
    await commands.signIn({ means: 'token', token: 'yes' });
    expect(data.access.get()).to.deep.equal({ state: 'signedIn' });
    expect(server.requests.at(-1)?.body).to.deep.equal({ token: 'yes' });
    server.answers.set('DELETE /session', { status: 204 });
    await commands.signOut();
    expect(data.access.get().state).to.equal('signedOut');
  });

  it('sends what people do to the run that it is about', async () => {
    const commands = createHttpCommands(data);
    for (const action of ['cancel', 'approve', 'reject', 'tool-results'])
      server.answers.set(`POST /runs/a%2Fb/${action}`, { body: {} });
    server.answers.set('POST /providers/p/connect', { body: { url: 'https://vendor.example/authorize' } });
    const named = { executionId: 'a/b', callId: 'c' };
    await commands.cancelRun('a/b');
    await commands.approve({ ...named, argumentsHash: 'h' });
    await commands.reject({ ...named, argumentsHash: 'h', reason: 'no' });
    await commands.submitToolResult({ ...named, outcome: { output: 'x' } });
    expect(server.requests.map(({ body }) => body)).to.deep.equal([
      {},
      { callId: 'c', argumentsHash: 'h' },
      { callId: 'c', argumentsHash: 'h', reason: 'no' },
      { callId: 'c', output: 'x' },
    ]);
    expect(await commands.connectProvider('p')).to.equal('https://vendor.example/authorize');
  });

  it('closes the stream when nobody reads any more', async () => {
    await until(data.runs, isReady);
    const [stream] = server.streams;
    const closed = new Promise<void>((resolve) => stream!.on('close', resolve));
    for (const stop of leave.splice(0)) stop();
    await closed;
    expect(server.streams.size).to.equal(0);
  });

  it('takes all the events of a frame in one step', async () => {
    let flush = (): void => undefined;
    data = new HttpData({
      fetch,
      origin: server.url,
      schedule: (next) => (flush = next),
      reloadEvery: 1,
      backoff: () => 1,
    });
    await until(data.runs, isReady);
    let steps = 0;
    leave.push(data.runs.subscribe(() => (steps += 1)));
    for (let iteration = 1; iteration <= 50; iteration += 1)
      server.tell(event({ type: 'iteration:start', iteration, seq: iteration }));
    // The stream is read in order: when this is, all of it is.
    const asked = deferred();
    server.answers.set('GET /runs', () => {
      asked.resolve();
      return { status: 500 };
    });
    server.send('event: resync\ndata: {}\n\n');
    await asked.promise;
    flush();
    expect(steps).to.equal(1);
    const shown = data.runs.get();
    expect(shown.state === 'ready' && shown.value[0]!.iterations).to.equal(50);
  });
});
