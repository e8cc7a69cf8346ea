import { expect } from 'chai';
import { useFakeTimers } from 'sinon';
import { createRequestId } from '../../../../imports/api/http/requestId';

describe('createRequestId', () => {
  it('returns ids in the order of time, each once', () => {
    const clock = useFakeTimers({ now: 1_790_000_000_000, toFake: ['Date'] });
    try {
      const ids = Array.from({ length: 1_000 }, () => {
        clock.tick(1);
        return createRequestId();
      });
      expect(ids[0]).to.match(/^req_[0-9a-f]{24}$/);
      expect(ids.toSorted()).to.deep.equal(ids);
      expect(new Set([...ids, ...Array.from({ length: 1_000 }, createRequestId)]).size).to.equal(2_000);
    } finally {
      clock.restore();
    }
  });
});
