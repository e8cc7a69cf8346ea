import { expect } from 'chai';
import { LocalJobQueue } from '../../../../../imports/business/ai/infrastructure/jobs/LocalJobQueue';
import { deferred } from '../../../../support/deferred';
import type { Deferred } from '../../../../support/deferred';
import { RecordingLogger } from '../../../../support/RecordingLogger';
import { VirtualTime } from '../../../../support/VirtualTime';

describe('LocalJobQueue', () => {
  let time: VirtualTime;
  beforeEach(() => {
    time = VirtualTime.start();
  });
  afterEach(() => time.stop());

  it('never runs a task that is still running, however often it is due, and runs it again afterwards', async () => {
    const queue = new LocalJobQueue({ logger: new RecordingLogger() });
    const runs: Deferred<void>[] = [];
    await queue.start(() => Promise.resolve());
    await queue.schedule({ name: 'minutely', cron: '* * * * *' }, () => {
      const run = deferred();
      runs.push(run);
      return run.promise;
    });
    await time.pass(5 * 60_000);
    expect(runs).to.have.length(1);
    runs[0]?.resolve();
    await time.pass(60_000);
    expect(runs).to.have.length(2);
    runs[1]?.resolve();
    await queue.stop();
  });

  it('leaves no timer behind when it stops, and starts what waited when it starts again', async () => {
    const queue = new LocalJobQueue({ logger: new RecordingLogger() });
    const started: string[] = [];
    const work = async (executionId: string): Promise<void> => void started.push(executionId);
    await queue.start(work);
    await queue.add('tomorrow', Date.now() + 86_400_000);
    await queue.schedule({ name: 'nightly', cron: '0 0 * * *' }, () => Promise.resolve());
    expect(time.timers).to.have.length(2);
    await queue.stop();
    expect(time.timers).to.deep.equal([]);
    await time.pass(2 * 86_400_000);
    expect(started).to.deep.equal([]);
    await queue.start(work);
    await time.pass(0);
    expect(started).to.deep.equal(['tomorrow']);
    await queue.stop();
    expect(time.timers).to.deep.equal([]);
  });
});
