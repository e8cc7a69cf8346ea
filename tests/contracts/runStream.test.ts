/**
 * The lifetime of the run event stream: kept alive while idle, ended after its maximum age, and closed with the
 * server.
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
import { inFlowingTime } from '../support/VirtualTime';

describe(
  'the run event stream',
  inFlowingTime(() => {
    let gateway: Gateway | undefined;
    afterEach(() => gateway?.close());

    async function watch(
      limits: Partial<HttpApiLimits>,
    ): Promise<{ readonly stream: SseReader; readonly events: RunEventLog }> {
      const events = new RunEventLog();
      // Nothing but the stream is asked here.
      const runs = { events } as unknown as RunRoutePorts;
      gateway = await startGateway({ api: { limits, runs } });
      return {
        events,
        stream: await readSse(`${gateway.url}/api/runs/stream`, { authorization: `Bearer ${TOKENS.ann}` }),
      };
    }

    it('is kept alive by comments', async () => {
      const { stream } = await watch({ keepAliveAfter: 10 });
      await until(() => stream.comments.length >= 2);
      stream.stop();
    });

    it('ends after its maximum age, so that subscribers have to authenticate again', async () => {
      const { stream, events } = await watch({ maxConnectionTime: 50 });
      await stream.ended;
      await until(() => events.subscriberCount === 0);
    });

    it('does not prevent the server from stopping', async () => {
      const { stream, events } = await watch({ shutdownGrace: 600_000 });
      expect(events.subscriberCount).to.equal(1);
      await gateway?.api.close();
      await stream.ended;
      expect(events.subscriberCount).to.equal(0);
    });
  }),
);
