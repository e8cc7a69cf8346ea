import { expect } from 'chai';
import { useFakeTimers } from 'sinon';
import { timeOrderedUuid } from '../../../imports/database/timeOrderedUuid';

describe('timeOrderedUuid', () => {
  it('is of version 7: the time in milliseconds, then random bits', () => {
    const clock = useFakeTimers({ now: Date.UTC(2022, 1, 22, 19, 22, 22), toFake: ['Date'] });
    try {
      // The time of the example in RFC 9562, appendix A.6.
      expect(timeOrderedUuid()).to.match(/^017f22e2-79b0-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(timeOrderedUuid()).not.to.equal(timeOrderedUuid());
    } finally {
      clock.restore();
    }
  });
});
