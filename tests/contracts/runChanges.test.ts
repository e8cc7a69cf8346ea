/** Open pages reload what events report; with a slow store, that is before the new state is stored. */
import { expect } from 'chai';
import type { RunStore } from '../../imports/business/ai/domain/interfaces/RunStore';
import type { Topic } from '../../imports/business/ai/domain/types/Topics';
import type { RunningServer } from '../../imports/host/node/startServer';
import { startStandalone } from '../support/startStandalone';
import { until } from '../support/until';
import { inFlowingTime } from '../support/VirtualTime';

const ADMIN = { userId: 'local', isAdmin: true, source: 'http' } as const;
const INPUT = 'get_weather for Lisbon, and render_video "a scene" 600 seconds';

describe(
  'Pages that show runs',
  inFlowingTime(() => {
    let server: RunningServer;
    beforeEach(async () => {
      server = await startStandalone();
    });
    afterEach(() => server.close());

    it('are notified once a run that waits is stored as waiting, however late that is', async () => {
      const { host } = server;
      const store = new SlowStates(host.module.runs, 'waiting');
      const { executionId } = await host.operations['ai.runs.start'](ADMIN, {
        requestId: 'r',
        providerId: 'openai',
        input: INPUT,
        tools: ['get_weather', 'render_video'],
      });
      await store.held;
      // All events of the run have been sent, and the pages have reloaded.
      const seen: Topic[] = [];
      const stop = host.changes.subscribe(ADMIN, (topics) => seen.push(...topics));
      expect((await host.operations['ai.runs.get'](ADMIN, { executionId })).run.state).to.equal('running');
      store.release();
      await until(() => seen.includes('runs') && seen.includes('calls'));
      expect((await host.operations['ai.runs.get'](ADMIN, { executionId })).run.state).to.equal('waiting');
      stop();
      await host.operations['ai.runs.cancel'](ADMIN, { executionId });
    });
  }),
);

/** Holds the first write of a state until it is released. */
class SlowStates {
  readonly held: Promise<void>;
  release = (): void => undefined;

  constructor(store: RunStore, heldState: string) {
    const saveRun = store.saveRun.bind(store);
    const released = new Promise<void>((resolve) => (this.release = resolve));
    this.held = new Promise((resolve) => {
      store.saveRun = async (lease, progress) => {
        if (progress.state === heldState) {
          resolve();
          await released;
        }
        return saveRun(lease, progress);
      };
    });
  }
}
