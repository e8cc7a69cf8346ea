/** What `/ready` says, and why. */
import { expect } from 'chai';
import type { ReadinessPorts } from '../../../../imports/api/health/readReadiness';
import { readReadiness } from '../../../../imports/api/health/readReadiness';
import { StorageFullError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import type { RequestContext } from '../../../../imports/api/http/RequestContext';

async function answerOf(ports: ReadinessPorts): Promise<unknown> {
  const sent: unknown[] = [];
  // The handler only sends JSON.
  const context = { response: { json: (body: unknown) => sent.push(body) } } as unknown as RequestContext;
  try {
    await readReadiness(ports)(context);
  } catch (error) {
    return (error as { readonly code?: string }).code;
  }
  return sent[0];
}

describe('a server', () => {
  const ready: ReadinessPorts = { outage: () => undefined, isLeaseCurrent: () => true, isQueueRunning: () => true };

  it('is ready while the store is reachable, leases are renewed and the queue runs', async () => {
    expect(await answerOf(ready)).to.deep.equal({ status: 'ready' });
    expect(await answerOf({})).to.deep.equal({ status: 'ready' });
  });

  it('is not ready while its store is away, its disk is full, its leases are late or its queue rests', async () => {
    expect(await answerOf({ ...ready, outage: () => ({ since: 0 }) })).to.equal('store-unavailable');
    expect(await answerOf({ ...ready, isLeaseCurrent: () => false })).to.equal('overloaded');
    expect(await answerOf({ ...ready, isQueueRunning: () => false })).to.equal('overloaded');
    const checkRoom = (): Promise<void> => Promise.reject(new StorageFullError('No space is left on the device.'));
    expect(await answerOf({ ...ready, checkRoom })).to.equal('overloaded');
    expect(await answerOf({ ...ready, checkRoom: () => Promise.resolve() })).to.deep.equal({ status: 'ready' });
  });
});
