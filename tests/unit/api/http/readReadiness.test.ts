/** What `/ready` says, and why. */
import { expect } from 'chai';
import type { ReadinessPorts } from '../../../../imports/api/health/readReadiness';
import { readReadiness } from '../../../../imports/api/health/readReadiness';
import type { RequestContext } from '../../../../imports/api/http/RequestContext';

function answerOf(ports: ReadinessPorts): unknown {
  const sent: unknown[] = [];
  // The handler only sends JSON.
  const context = { response: { json: (body: unknown) => sent.push(body) } } as unknown as RequestContext;
  try {
    void readReadiness(ports)(context);
  } catch (error) {
    return (error as { readonly code?: string }).code;
  }
  return sent[0];
}

describe('readReadiness', () => {
  const ready: ReadinessPorts = { outage: () => undefined, isLeaseCurrent: () => true, isQueueRunning: () => true };

  it('is ready while the store is reachable, leases are renewed and the queue runs', () => {
    expect(answerOf(ready)).to.deep.equal({ status: 'ready' });
    expect(answerOf({})).to.deep.equal({ status: 'ready' });
  });

  it('names what is missing', () => {
    expect(answerOf({ ...ready, outage: () => ({ since: 0 }) })).to.equal('store-unavailable');
    expect(answerOf({ ...ready, isLeaseCurrent: () => false })).to.equal('overloaded');
    expect(answerOf({ ...ready, isQueueRunning: () => false })).to.equal('overloaded');
  });
});
