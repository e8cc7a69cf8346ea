import { once } from 'node:events';
import { expect } from 'chai';
import { fieldsOf } from '../../../../../imports/business/ai/domain/util/json';
import type { AgentEvent } from '../../../../../imports/business/ai/domain/types/AgentEvents';
import type { RunView } from '../../../../../imports/business/ai/domain/types/RunViews';
import type { Loaded } from '../../../../../imports/ui/data/DashboardData';
import { HttpData } from '../../../../../imports/ui/data/http/HttpData';
import type { ReadonlyObservable } from '../../../../../imports/ui/data/Observable';
import type { StreamedRun } from '../../../../../imports/ui/data/reducers/reduceRun';
import { NO_USAGE } from '../../../../../imports/ui/data/reducers/usageView';
import { DashboardServer } from '../../../../support/DashboardServer';
import { deferred } from '../../../../support/deferred';
import { recordedRun, RUN_ID, snapshotAfter } from '../../../../support/recordedRun';
import { inFlowingTime } from '../../../../support/VirtualTime';

const CONVERSATION = 'GET /api/runs?conversationId=c';
const ROW: RunView = {
  _id: RUN_ID,
  userId: 'ann',
  providerId: 'scripted',
  state: 'running',
  createdAt: 1,
  iterations: 0,
  usage: NO_USAGE,
  title: 'go',
};

describe(
  'HttpData',
  inFlowingTime(() => {
    let server: DashboardServer;
    let data: HttpData;
    let runs: ReadonlyObservable<Loaded<readonly RunView[]>>;
    let subscriptions: (() => void)[];
    beforeEach(async () => {
      server = new DashboardServer();
      await server.start();
      subscriptions = [];
      data = new HttpData({
        fetch,
        origin: server.url,
        schedule: setImmediate,
        reloadIntervalMs: 1,
        backoff: () => 1,
        hiddenIntervalMs: 5,
      });
      runs = data.conversationRuns('c');
      server.responses.set(CONVERSATION, { body: { runs: [ROW] } });
      server.responses.set(`GET /api/runs/${RUN_ID}`, { body: snapshotAfter([]) });
    });
    afterEach(async () => {
      for (const unsubscribe of subscriptions) unsubscribe();
      // A query keeps its stream for a moment, and would open it again and again once the server is gone.
      await Promise.all([...server.streams].map((stream) => once(stream, 'close')));
      await server.close();
    });

    /** Resolves with the first value that matches; subscriptions last until the test ends. */
    const until = <T>(observable: ReadonlyObservable<T>, matches: (value: T) => boolean): Promise<T> =>
      new Promise((resolve) => {
        const check = (): void => {
          const value = observable.get();
          if (matches(value)) resolve(value);
        };
        subscriptions.push(observable.subscribe(check));
        check();
      });
    const isReady = ({ state }: { readonly state: string }): boolean => state === 'ready';
    const event = (body: object): AgentEvent => ({ executionId: RUN_ID, at: 5, seq: 1, ...body }) as AgentEvent;

    /** An active run is fetched, and once more when its stream has been opened. */
    const openRun = async (): Promise<ReadonlyObservable<Loaded<StreamedRun | undefined>>> => {
      const { run, ...rest } = snapshotAfter([]);
      let fetches = 0;
      server.responses.set(`GET /api/runs/${RUN_ID}`, () => ({
        body: { ...rest, run: { ...run, title: `fetch ${(fetches += 1)}` } },
      }));
      const details = data.runDetails(RUN_ID);
      await until(details, (shown) => shown.state === 'ready' && shown.value?.run.title === 'fetch 2');
      return details;
    };

    it('fetches a list once the stream is open', async () => {
      await until(runs, isReady);
      const lines = server.requests.map(({ line }) => line);
      expect(lines).to.deep.equal(['GET /api/runs/stream?brief', CONVERSATION]);
    });

    it('fetches the runs of a conversation again when another one starts in it', async () => {
      await until(runs, isReady);
      server.responses.set(CONVERSATION, { body: { runs: [{ ...ROW, _id: 'new' }, ROW] } });
      const started = { type: 'run:started', userId: 'ann', model: 'm' };
      server.sendEvents(event({ ...started, executionId: 'other', conversationId: 'd' }));
      server.sendEvents(event({ ...started, executionId: 'new', conversationId: 'c', seq: 2 }));
      await until(runs, (shown) => shown.state === 'ready' && shown.value.length === 2);
      expect(server.count(CONVERSATION)).to.equal(2);
    });

    it('applies the events that arrive during a fetch', async () => {
      const details = await openRun();
      const gate = deferred();
      const requested = deferred();
      server.responses.set(`GET /api/runs/${RUN_ID}`, async () => {
        requested.resolve();
        await gate.promise;
        return { body: snapshotAfter([]) };
      });
      server.send('event: resync\ndata: {}\n\n');
      await requested.promise;
      server.sendEvents(event({ type: 'run:started', userId: 'ann', model: 'm' }));
      server.sendEvents(event({ type: 'iteration:start', iteration: 1, seq: 2 }));
      const hasStarted = (shown: Loaded<StreamedRun | undefined>): boolean =>
        shown.state === 'ready' && shown.value?.run.iterations === 1;
      await until(details, hasStarted);
      let updates = 0;
      subscriptions.push(details.subscribe(() => (updates += 1)));
      gate.resolve();
      await until(details, () => updates > 0);
      expect(hasStarted(details.get()), 'after the fetch, which does not include them').to.equal(true);
    });

    it('streams the text of one run, and resolves to undefined for an unknown run', async () => {
      const events = await recordedRun();
      const missing = await until(data.runDetails('unknown'), isReady);
      expect(missing).to.deep.equal({ state: 'ready', value: undefined });
      await until(data.runDetails(RUN_ID), isReady);
      let sent = 0;
      server.responses.set(`GET /api/runs/${RUN_ID}`, () => ({ body: snapshotAfter(events.slice(0, sent)) }));
      for (const each of events) {
        sent += 1;
        server.sendEvents(each);
        if (each.type === 'llm:delta')
          await until(
            data.runDetails(RUN_ID),
            (shown) => shown.state === 'ready' && shown.value?.liveText.text.endsWith(each.delta) === true,
          );
      }
      await until(
        data.runDetails(RUN_ID),
        (shown) => shown.state === 'ready' && shown.value?.run.state === 'completed',
      );
    });

    it('receives the last events of a run whose end it has loaded before them', async () => {
      const events = await recordedRun();
      const details = await openRun();
      server.responses.set(`GET /api/runs/${RUN_ID}`, { body: snapshotAfter(events) });
      // A response of the model causes a reload, which shows the end of the run.
      const response = events.findIndex(({ type }) => type === 'llm:response');
      for (const each of events.slice(0, response + 1)) server.sendEvents(each);
      const logged = (shown: Loaded<StreamedRun | undefined>) =>
        shown.state === 'ready' ? (shown.value?.log.map(({ type }) => type) ?? []) : [];
      await until(details, (shown) => shown.state === 'ready' && shown.value?.run.state === 'completed');
      for (const each of events.slice(response + 1)) server.sendEvents(each);
      await until(details, (shown) => logged(shown).includes('run:completed'));
      const unlogged = ['llm:delta', 'tool:progress'];
      expect(logged(details.get())).to.deep.equal(
        events.map(({ type }) => type).filter((type) => !unlogged.includes(type)),
      );
    });

    it('opens no stream for runs that have ended, since browsers open few connections', async () => {
      const ended = snapshotAfter(await recordedRun());
      const ids = Array.from({ length: 20 }, (_, index) => `run-${index}`);
      for (const id of ids)
        server.responses.set(`GET /api/runs/${id}`, { body: { ...ended, run: { ...ended.run, _id: id } } });
      for (const id of ids) await until(data.runDetails(id), isReady);
      expect(server.requests.filter(({ line }) => line.includes('/stream'))).to.deep.equal([]);
      const shown = ids.map((id) => data.runDetails(id));
      expect(ids.map((id) => data.runDetails(id) === shown[ids.indexOf(id)])).to.not.include(false);
      expect(ids.map((id) => server.count(`GET /api/runs/${id}`))).to.deep.equal(ids.map(() => 1));
    });

    it('fetches again after a resync event and after the stream broke', async () => {
      const shows = (title: string) => (shown: Loaded<readonly RunView[]>) =>
        shown.state === 'ready' && shown.value[0]?.title === title;
      await until(runs, isReady);
      server.responses.set(CONVERSATION, { body: { runs: [{ ...ROW, title: 'after resync' }] } });
      server.send('event: resync\ndata: {}\n\n');
      await until(runs, shows('after resync'));
      server.responses.set(CONVERSATION, { body: { runs: [{ ...ROW, title: 'after the start' }] } });
      server.sendEvents(event({ type: 'run:started', conversationId: 'c', userId: 'ann', model: 'm' }));
      await until(runs, shows('after the start'));
      server.responses.set(CONVERSATION, { body: { runs: [{ ...ROW, title: 'after the cut' }] } });
      server.cut();
      await until(data.connectionState, (state) => state === 'lost');
      await until(runs, shows('after the cut'));
      await until(data.connectionState, (state) => state === 'live');
      expect(
        server.requests.filter(({ line }) => line === 'GET /api/runs/stream?brief').at(-1)?.lastEventId,
        'resumes after the last event',
      ).to.equal('1');
    });

    it('leaves the connections to other pages while it is hidden, and misses nothing', async () => {
      await until(data.runDetails(RUN_ID), isReady);
      const inbox = data.queries.query('ai.inbox.list', {}, '', { isBackground: true });
      server.responses.set('GET /api/inbox', { body: { entries: [], counts: { total: 1 } } });
      await until(inbox, isReady);
      server.sendEvents(event({ type: 'iteration:start', iteration: 1 }));
      const iterations = (expected: number): Promise<unknown> =>
        until(data.runDetails(RUN_ID), (shown) => shown.state === 'ready' && shown.value?.run.iterations === expected);
      await iterations(1);
      const closed = [...server.streams].map((stream) => once(stream, 'close'));
      expect(closed).to.have.length(2);
      data.setVisible(false);
      await Promise.all(closed);
      server.responses.set('GET /api/inbox', { body: { entries: [], counts: { total: 2 } } });
      await until(
        inbox,
        (shown) => shown.state === 'ready' && fieldsOf(fieldsOf(shown.value)['counts'])['total'] === 2,
      );
      expect(server.streams.size, 'streams while hidden').to.equal(0);
      expect(data.connectionState.get(), 'nothing is lost').to.equal('live');
      server.responses.set(`GET /api/runs/${RUN_ID}`, {
        body: { ...snapshotAfter([]), run: { ...snapshotAfter([]).run, iterations: 2 } },
      });
      data.setVisible(true);
      await iterations(2);
      const reopened = server.requests.filter(({ line }) => line.startsWith('GET /api/runs/stream')).slice(2);
      expect(reopened.map(({ lastEventId }) => lastEventId)).to.have.members(['1', '1']);
    });

    it('loads a page that is opened in the background', async () => {
      data.setVisible(false);
      await until(data.runDetails(RUN_ID), isReady);
      expect(server.requests.filter(({ line }) => line.includes('/stream'))).to.deep.equal([]);
      data.setVisible(true);
      await until(data.connectionState, (state) => state === 'live');
    });

    it('reports the error of a fetch, and retries on request', async () => {
      server.responses.set(CONVERSATION, {
        status: 503,
        body: { error: { code: 'overloaded', message: 'Later, please.' } },
      });
      const failed = await until(runs, (shown) => shown.state === 'failed');
      expect(failed).to.deep.include({ state: 'failed', error: { code: 'overloaded', message: 'Later, please.' } });
      server.responses.set(CONVERSATION, { body: { runs: [] } });
      if (failed.state === 'failed') failed.retry();
      await until(runs, isReady);
    });

    it('keeps the loaded value when a later fetch fails', async () => {
      await until(runs, isReady);
      const requested = deferred();
      server.responses.set(CONVERSATION, () => {
        requested.resolve();
        return { status: 500 };
      });
      server.send('event: resync\ndata: {}\n\n');
      await requested.promise;
      await data.session.connection.get('/nothing').catch(() => undefined);
      expect(runs.get().state).to.equal('ready');
    });

    it('reads nothing under a session that is being ended', async () => {
      await until(runs, isReady);
      const slow = deferred<{ readonly body: object }>();
      const asked = deferred();
      server.responses.set('GET /slow', () => {
        asked.resolve();
        return slow.promise;
      });
      const refused = deferred<{ readonly status: number }>();
      server.responses.set('DELETE /api/session', () => refused.promise);
      const early: unknown = data.session.connection.get('/slow').catch((thrown: unknown) => thrown);
      await asked.promise;

      const signedOut = data.session.signOut();
      const late: unknown = data.session.connection.get('/late').catch((thrown: unknown) => thrown);
      refused.resolve({ status: 204 });
      await signedOut;
      expect(await early).to.include({ code: 'auth-failed', message: 'You have signed out.' });
      expect(await late).to.include({ code: 'auth-failed', message: 'You have signed out.' });
      expect([server.count('GET /late'), server.count('GET /slow')]).to.deep.equal([0, 1]);
      expect(server.streams.size).to.equal(0);
      slow.resolve({ body: {} });
      const later: unknown = await data.session.connection.get('/late').catch((thrown: unknown) => thrown);
      expect(later).to.include({ code: 'auth-failed' });
      expect(server.count('GET /late')).to.equal(0);
      server.responses.set('POST /api/session', { body: {} });
      server.responses.set('GET /late', { body: { is: 'there' } });
      await data.session.signIn({ method: 'token', token: 'yes' });
      expect(await data.session.connection.get('/late')).to.deep.equal({ is: 'there' });
    });

    it('goes on under a session that could not be ended', async () => {
      const asked = deferred();
      let attempts = 0;
      server.responses.set('GET /slow', async () => {
        attempts += 1;
        asked.resolve();
        if (attempts === 1) await new Promise(() => undefined);
        return { body: { attempts } };
      });
      server.responses.set('DELETE /api/session', {
        status: 503,
        body: { error: { code: 'server', message: 'Later.' } },
      });
      const early = data.session.connection.get('/slow');
      await asked.promise;
      const error: unknown = await data.session.signOut().catch((thrown: unknown) => thrown);
      expect(error).to.include({ code: 'server' });
      expect(await early).to.deep.equal({ attempts: 2 });
    });

    it('detects that it is signed out, and signs in with the token', async () => {
      server.responses.set('GET /api/session', {
        status: 401,
        body: { error: { code: 'auth-failed', message: 'Who are you?' } },
      });
      server.responses.set('POST /api/session', {
        status: 401,
        body: { error: { code: 'auth-failed', message: 'The API token is not valid on this server.' } },
      });
      await data.session.check();
      expect(data.session.access.get()).to.deep.equal({ state: 'signedOut', method: 'token' });
      const error: unknown = await data.session
        .signIn({ method: 'token', token: 'no' })
        .catch((thrown: unknown) => thrown);
      expect(error).to.include({ code: 'auth-failed', message: 'The API token is not valid on this server.' });
      server.responses.set('POST /api/session', { body: { userId: 'local' } });
      await data.session.signIn({ method: 'token', token: 'yes' });
      expect(data.session.access.get()).to.deep.equal({ state: 'signedIn' });
      expect(server.requests.at(-1)?.body).to.deep.equal({ token: 'yes' });
      server.responses.set('DELETE /api/session', { status: 204 });
      await data.session.signOut();
      expect(data.session.access.get().state).to.equal('signedOut');
    });

    it('closes the stream with its last subscriber', async () => {
      await until(runs, isReady);
      const [stream] = server.streams;
      const closed = new Promise<void>((resolve) => stream!.on('close', resolve));
      for (const unsubscribe of subscriptions.splice(0)) unsubscribe();
      await closed;
      expect(server.streams.size).to.equal(0);
    });

    it('applies all the events of a frame in one update', async () => {
      let flush = (): void => undefined;
      data = new HttpData({
        fetch,
        origin: server.url,
        schedule: (next) => (flush = next),
        reloadIntervalMs: 1,
        backoff: () => 1,
      });
      const details = await openRun();
      let updates = 0;
      subscriptions.push(details.subscribe(() => (updates += 1)));
      for (let iteration = 1; iteration <= 50; iteration += 1)
        server.sendEvents(event({ type: 'iteration:start', iteration, seq: iteration }));
      // The stream is read in order, so once this event has been handled, all the others have been read.
      const requested = deferred();
      server.responses.set(`GET /api/runs/${RUN_ID}`, () => {
        requested.resolve();
        return { status: 500 };
      });
      server.send('event: resync\ndata: {}\n\n');
      await requested.promise;
      flush();
      expect(updates).to.equal(1);
      const shown = details.get();
      expect(shown.state === 'ready' && shown.value?.run.iterations).to.equal(50);
    });
  }),
);
