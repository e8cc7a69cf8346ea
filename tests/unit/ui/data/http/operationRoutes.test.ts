import { expect } from 'chai';
import { HttpData } from '../../../../../imports/ui/data/http/HttpData';
import { DashboardServer } from '../../../../support/DashboardServer';
import { until } from '../../../../support/until';
import { inFlowingTime } from '../../../../support/VirtualTime';

describe(
  'the operations over HTTP',
  inFlowingTime(() => {
    let server: DashboardServer;
    let data: HttpData;
    let unsubscribe = (): void => undefined;
    beforeEach(async () => {
      server = new DashboardServer();
      await server.start();
      data = new HttpData({ fetch, origin: server.url, schedule: setImmediate, reloadIntervalMs: 1, backoff: () => 1 });
    });
    afterEach(async () => {
      unsubscribe();
      // A query keeps its stream for a moment, and would open it again and again once the server is gone.
      await until(() => server.streams.size === 0);
      await server.close();
    });

    it('are loaded again after an event of their topic, after a reconnect, and after nothing else', async () => {
      let version = 0;
      server.responses.set('GET /api/tools', () => ({ body: { tools: (version += 1) } }));
      const query = data.queries.query('ai.tools.list', {});
      unsubscribe = query.subscribe(() => undefined);
      const shows = (value: number) => () => {
        const loaded = query.get();
        return loaded.state === 'ready' && (loaded.value as unknown) === value;
      };
      await until(shows(1));
      server.send('event: changes\ndata: {"topics":["tokens","budgets"]}\n\n');
      server.send('event: changes\ndata: {"topics":["calls"]}\n\n');
      await until(shows(2));
      server.sendEvents({ type: 'tool:executing', executionId: 'r', callId: 'c', name: 't', at: 1, seq: 1 } as never);
      await until(shows(3));
      server.cut();
      await until(shows(4));
      expect(server.count('GET /api/tools')).to.equal(4);
    });

    it('tell what is used of a budget after a request that is no run', async () => {
      server.responses.set('GET /api/budgets', () => ({ body: {} }));
      server.responses.set('GET /api/tokens', () => ({ body: { tokens: [] } }));
      const queries = [data.queries.query('ai.budgets.list', {}), data.queries.query('ai.tokens.list', {})];
      const leave = queries.map((query) => query.subscribe(() => undefined));
      unsubscribe = () => leave.forEach((each) => each());
      await until(() => queries.every((query) => query.get().state === 'ready'));
      server.send('event: changes\ndata: {"topics":["requests"]}\n\n');
      await until(() => server.count('GET /api/tokens') === 2);
      // A stream on which nothing arrives would be opened again, and both be loaded with it.
      server.send('event: changes\ndata: {"topics":["tokens"]}\n\n');
      await until(() => server.count('GET /api/tokens') === 3);
      expect(server.count('GET /api/budgets')).to.equal(2);
    });

    it('encode what is part of a path, and send the rest as the body', async () => {
      server.responses.set('POST /api/runs/a%2Fb/reject', { body: { state: 'cancelled' } });
      const argument = { executionId: 'a/b', callId: 'c', argumentsHash: 'h', reason: 'No.' };
      expect(await data.queries.call('ai.runs.reject', argument)).to.deep.equal({ state: 'cancelled' });
      expect(server.requests.at(-1)?.body).to.deep.equal({ callId: 'c', argumentsHash: 'h', reason: 'No.' });
    });

    it('are not sent with an empty id, which would make them another operation', async () => {
      server.responses.set('POST /api/budgets/', { body: {} });
      const thrown: unknown = await data.queries
        .call('ai.budgets.set', { userId: '', limits: {} })
        .catch((error: unknown) => error);
      expect(thrown).to.include({ code: 'invalid-request' });
      expect(server.requests).to.deep.equal([]);
    });

    it('unpack the field of the response that is the result', async () => {
      server.responses.set('POST /api/runs/r/cancel', { body: { state: 'cancelled' } });
      expect(await data.queries.call('ai.runs.cancel', { executionId: 'r' })).to.equal('cancelled');
      server.responses.set('POST /api/providers/p/connect', { body: { url: 'https://vendor.example/authorize' } });
      const url = await data.queries.call('ai.providers.connect', { providerId: 'p' });
      expect(url).to.equal('https://vendor.example/authorize');
    });
  }),
);
