/**
 * How long the stream of runs lives: kept alive while nothing happens, never longer than its time, and not beyond
 * the server's.
 */
import { expect } from 'chai';
import type { HttpApiLimits } from '../../imports/api/createHttpApi';
import type { RunRoutePorts } from '../../imports/api/runs/RunRoutePorts';
import { RunEventLog } from '../../imports/business/ai/infrastructure/events/RunEventLog';
import { startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { readSse } from '../support/readSse';
import type { SseReader } from '../support/readSse';
import { until } from '../support/until';

describe('the stream of runs', () => {
  let gateway: Gateway | undefined;
  afterEach(() => gateway?.close());

  async function watch(
    limits: Partial<HttpApiLimits>,
  ): Promise<{ readonly stream: SseReader; readonly events: RunEventLog }> {
    const events = new RunEventLog();
    // Nothing but the stream is asked here.
    const runs = { events } as unknown as RunRoutePorts;
    gateway = await startGateway({ api: { limits, runs } });
    return { events, stream: await readSse(`${gateway.url}/runs/stream`, { authorization: `Bearer ${TOKENS.ann}` }) };
  }

  it('is kept alive by comments', async () => {
    const { stream } = await watch({ keepAliveAfter: 10 });
    await until(() => stream.comments.length >= 2);
    stream.stop();
  });

  it('ends after its time, so that whoever watches has to show again that they may', async () => {
    const { stream, events } = await watch({ maxConnectionTime: 50 });
    await stream.ended;
    await until(() => events.subscriberCount === 0);
  });

  it('does not keep a server from stopping', async () => {
    const { stream, events } = await watch({ shutdownGrace: 600_000 });
    expect(events.subscriberCount).to.equal(1);
    await gateway?.api.close();
    await stream.ended;
    expect(events.subscriberCount).to.equal(0);
  });
});
