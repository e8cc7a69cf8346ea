/** Retries behind the gateway's routes: short, and never multiplied by the client's own. */
import { expect } from 'chai';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startGateway } from '../support/gateway';
import type { Gateway, GatewayOptions } from '../support/gateway';
import { itInVirtualTime } from '../support/itInVirtualTime';

const ROUTES = [
  { api: 'Responses', path: '/v1/responses', body: (model: string) => ({ model, input: 'Hi' }) },
  {
    api: 'Chat Completions',
    path: '/v1/chat/completions',
    body: (model: string) => ({ model, messages: [{ role: 'user', content: 'Hi' }] }),
  },
  {
    api: 'Messages',
    path: '/v1/messages',
    body: (model: string) => ({ model, max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }] }),
  },
] as const;

/** Pauses that take no time, on a clock that they advance. */
function virtualTime(): { readonly pauses: number[]; readonly time: NonNullable<GatewayOptions['time']> } {
  const pauses: number[] = [];
  let now = 0;
  return {
    pauses,
    time: {
      clock: () => now,
      random: () => 1,
      sleep: (milliseconds) => {
        pauses.push(milliseconds);
        now += milliseconds;
        return Promise.resolve();
      },
    },
  };
}

function rateLimit(simulator: Simulator, retryAfter: string, times = 3): void {
  for (let sent = 0; sent < times; sent += 1)
    simulator.enqueue({
      status: 429,
      body: { error: { type: 'rate_limit_error', message: 'Slow down.' } },
      headers: { 'retry-after': retryAfter },
    });
}

describe('A retry behind the gateway', () => {
  let gateway: Gateway;
  afterEach(() => gateway.close());

  for (const { api, path, body } of ROUTES) {
    for (const model of ['openai', 'anthropic', 'groq']) {
      for (const stream of [false, true]) {
        it(`of ${api} for ${model} does not await a long retry-after${stream ? ' before a stream' : ''}`, async () => {
          const { pauses, time } = virtualTime();
          gateway = await startGateway({ attempts: 3, time });
          rateLimit(gateway.simulator, '20', 1);
          const response = await gateway.request(path, { ...body(model), stream });
          expect(response.status).to.equal(429);
          expect(response.headers.get('retry-after')).to.equal('20');
          expect(response.headers.get('x-should-retry')).to.equal(null);
          expect(pauses).to.deep.equal([]);
        });
      }
    }

    it(`of ${api} ends after a few seconds in all`, async () => {
      const { pauses, time } = virtualTime();
      gateway = await startGateway({ attempts: 5, time });
      rateLimit(gateway.simulator, '2', 3);
      const response = await gateway.request(path, body('openai'));
      expect(response.status).to.equal(429);
      expect(response.headers.get('retry-after')).to.equal('2');
      expect(pauses).to.deep.equal([2_000, 2_000]);
      gateway.simulator.assertDone();
    });

    it(`of ${api} tells the client not to repeat what was retried in vain`, async () => {
      const { time } = virtualTime();
      gateway = await startGateway({ attempts: 3, time });
      for (const model of ['openai', 'anthropic']) {
        for (let sent = 0; sent < 3; sent += 1)
          gateway.simulator.enqueue({
            status: 503,
            body: { type: 'error', error: { type: 'api_error', message: 'Down.' } },
            headers: { 'x-should-retry': 'true' },
          });
        const response = await gateway.request(path, body(model));
        expect(response.headers.get('x-should-retry'), model).to.equal('false');
        gateway.simulator.assertDone();
      }
    });

    it(`of ${api} leaves the retry to the client if the last failure asks for a long pause`, async () => {
      const { time } = virtualTime();
      gateway = await startGateway({ attempts: 3, time });
      rateLimit(gateway.simulator, '1', 1);
      rateLimit(gateway.simulator, '30', 1);
      const response = await gateway.request(path, body('openai'));
      expect(response.headers.get('retry-after')).to.equal('30');
      expect(response.headers.get('x-should-retry')).to.equal(null);
      gateway.simulator.assertDone();
    });
  }

  for (const { api, path, body } of ROUTES)
    for (const stream of [false, true])
      it(`of ${api} is not made for a filtered answer without a message${stream ? ' in a stream' : ''}`, async () => {
        gateway = await startGateway({ attempts: 3, time: virtualTime().time });
        const choices = [{ index: 0, finish_reason: 'content_filter', content_filter_results: {} }];
        const filtered = JSON.stringify({ id: 'c1', object: 'chat.completion', created: 1, model: 'm', choices });
        gateway.simulator.enqueue(
          stream ? { raw: `data: ${filtered}\n\ndata: [DONE]\n\n` } : { status: 200, body: JSON.parse(filtered) },
        );
        const response = await gateway.request(path, { ...body('groq'), stream });
        expect(response.status).to.equal(200);
        expect(await response.text()).to.match(/"(?:reason|finish_reason)":"content_filter"|"stop_reason":"refusal"/);
        expect(gateway.simulator.requests).to.have.length(1);
      });

  it('of a background response may take as long as the vendor asks', async () => {
    const { pauses, time } = virtualTime();
    gateway = await startGateway({ attempts: 2, time });
    rateLimit(gateway.simulator, '20', 1);
    const started = await gateway.request('/v1/responses', { model: 'openai', input: 'Hi', background: true });
    expect(started.status).to.equal(200);
    await gateway.simulator.nextRequest();
    await gateway.simulator.nextRequest();
    expect(pauses).to.deep.equal([20_000]);
  });

  it('of a call with maxRetryTime starts within that time', async () => {
    const { pauses, time } = virtualTime();
    gateway = await startGateway({ attempts: 5, time });
    rateLimit(gateway.simulator, '2', 2);
    const failure = await gateway.module.manager
      .generate('ann', { model: 'openai', input: 'Hi', maxRetryTime: 3_000 })
      .catch((error: unknown) => error);
    expect(failure).to.include({ code: 'rate-limited' });
    expect(pauses).to.deep.equal([2_000]);
  });

  for (const { api, path, body } of ROUTES) {
    itInVirtualTime(`of ${api} happens before the status line of a stream is sent`, async (time) => {
      gateway = await startGateway({ api: { limits: { keepAliveAfter: 5 } } });
      for (const model of ['openai', 'anthropic']) {
        gateway.simulator.enqueue(async () => {
          await time.after(60);
          return { status: 429, body: { error: { type: 'rate_limit_error', message: 'Slow down.' } } };
        });
        const response = await gateway.request(path, { ...body(model), stream: true });
        expect(response.status, model).to.equal(429);
      }
    });
  }
});
