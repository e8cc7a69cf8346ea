import { expect } from 'chai';
import { LocalJobQueue } from '../../../../../imports/business/ai/infrastructure/jobs/LocalJobQueue';
import { RecordingLogger } from '../../../../support/RecordingLogger';
import { VirtualTime } from '../../../../support/VirtualTime';

describe('LocalJobQueue', () => {
  let time: VirtualTime;
  beforeEach(() => {
    time = VirtualTime.start();
  });
  afterEach(() => time.stop());

  it('leaves no timer behind when it stops, and starts what waited when it starts again', async () => {
    const queue = new LocalJobQueue({ logger: new RecordingLogger() });
    const started: string[] = [];
    const work = async (executionId: string): Promise<void> => void started.push(executionId);
    await queue.start(work);
    await queue.add('tomorrow', Date.now() + 86_400_000);
    await queue.schedule({ name: 'nightly', cron: '0 0 * * *' }, () => Promise.resolve());
    expect(time.timers).to.equal(2);
    await queue.stop();
    expect(time.timers).to.equal(0);
    await time.pass(2 * 86_400_000);
    expect(started).to.deep.equal([]);
    await queue.start(work);
    await time.pass(0);
    expect(started).to.deep.equal(['tomorrow']);
    await queue.stop();
    expect(time.timers).to.equal(0);
  });
});
