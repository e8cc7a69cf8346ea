import { expect } from 'chai';
import { turnTimes } from '../../../../imports/ui/runs/turnTimes';
import { requestView } from '../records';

describe('turnTimes', () => {
  it('takes the times of turns from the request log, and of those that it lacks from events', () => {
    const requests = [requestView({ iteration: 1, at: 1_000, duration: 500, timeToFirstToken: 200 })];
    const events = new Map([
      [1, { start: 900, end: 1_600 }],
      [2, { start: 9_000 }],
    ]);
    expect([...turnTimes(requests, events)]).to.deep.equal([
      [1, { start: 1_000, end: 1_500, firstToken: 1_200, failedAttempts: [] }],
      [2, { start: 9_000 }],
    ]);
  });

  it('joins the calls of a turn that another process repeated', () => {
    const attempt = { at: 100, providerId: 'openai', reason: 'rate-limit', delay: 1 } as const;
    const requests = [
      requestView({ _id: 'b', iteration: 2, at: 8_000, duration: 400, timeToFirstToken: 100 }),
      requestView({ _id: 'a', iteration: 2, at: 5_000, duration: 300, attempts: [attempt] }),
    ];
    expect(turnTimes(requests, new Map()).get(2)).to.deep.equal({
      start: 5_000,
      end: 8_400,
      firstToken: 8_100,
      failedAttempts: [5_100],
    });
  });

  it('ignores calls that belong to no turn', () => {
    expect(turnTimes([requestView({})], new Map()).size).to.equal(0);
  });
});
