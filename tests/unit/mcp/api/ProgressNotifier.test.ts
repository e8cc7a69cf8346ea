/** Progress of a call over MCP: rising, not too often, and over when the call is. */
import { expect } from 'chai';
import sinon from 'sinon';
import { ProgressNotifier } from '../../../../imports/business/mcp/api/ProgressNotifier';
import { RecordingLogger } from '../../../support/RecordingLogger';

describe('progress over MCP', () => {
  let clock: sinon.SinonFakeTimers;
  let sent: number[];
  let notifier: ProgressNotifier;
  beforeEach(() => {
    clock = sinon.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    sent = [];
    const notify = ({ params }: { readonly params?: unknown }): Promise<void> => {
      sent.push((params as { readonly progress: number }).progress);
      return Promise.resolve();
    };
    const ctx = { mcpReq: { _meta: { progressToken: 7 }, notify } };
    // Only these fields are used.
    notifier = new ProgressNotifier(
      ctx as unknown as ConstructorParameters<typeof ProgressNotifier>[0],
      new RecordingLogger(),
    );
  });
  afterEach(() => clock.restore());

  it('is sent at most every 250 ms, the latest of what has risen', () => {
    for (const fraction of [0.1, 0.2, 0.3, 0.25]) notifier.report(fraction, undefined);
    expect(sent).to.deep.equal([0.1]);
    clock.tick(250);
    expect(sent).to.deep.equal([0.1, 0.25]);
  });

  it('ends with the call: what waits is sent before, and nothing is sent or kept waiting after it', async () => {
    for (const fraction of [0.1, 0.2]) notifier.report(fraction, undefined);
    await notifier.end();
    expect(sent).to.deep.equal([0.1, 0.2]);
    for (const fraction of [0.3, 0.4]) notifier.report(fraction, undefined);
    expect(clock.countTimers()).to.equal(0);
    clock.tick(1_000);
    expect(sent).to.deep.equal([0.1, 0.2]);
  });
});
