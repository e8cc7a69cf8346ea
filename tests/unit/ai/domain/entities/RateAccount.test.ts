import { expect } from 'chai';
import fc from 'fast-check';
import {
  admit,
  finish,
  openRates,
  RATE_WINDOW_MS,
  rateLimitState,
  renew,
} from '../../../../../imports/business/ai/domain/entities/RateAccount';
import type { RateAccount } from '../../../../../imports/business/ai/domain/entities/RateAccount';

const LEASE_MS = RATE_WINDOW_MS;

describe('the rates of an API token', () => {
  it('never admit more than the limits, whatever comes in which order', () => {
    const event = fc.record({
      after: fc.nat(20_000),
      kind: fc.constantFrom('admit', 'admit', 'finish'),
      tokens: fc.nat(60),
      at: fc.nat(10),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const limits = { requestsPerMinute: 5, tokensPerMinute: 100, parallel: 3 };
        let now = 0;
        let account: RateAccount = openRates('t', now);
        const running: string[] = [];
        const admitted = new Map<number, number>();
        events.forEach(({ after, kind, tokens, at }, index) => {
          now += after;
          if (kind === 'admit') {
            const result = admit(account, { id: String(index), tokens, leaseMs: LEASE_MS * 100 }, limits, now);
            if (result.kind === 'refused') return;
            ({ account } = result);
            running.push(String(index));
            const minute = Math.floor(now / RATE_WINDOW_MS);
            admitted.set(minute, (admitted.get(minute) ?? 0) + 1);
            const { tokens: left } = rateLimitState(account, limits, now);
            expect(left?.remaining).to.be.at.least(0);
          } else {
            const [id] = running.splice(at % Math.max(running.length, 1), 1);
            if (id !== undefined) account = finish(account, id, 0, now);
          }
          expect(running.length).to.be.at.most(limits.parallel);
        });
        for (const count of admitted.values()) expect(count).to.be.at.most(limits.requestsPerMinute);
      }),
    );
  });

  it('count what exceeds a reservation in the minute in which the request ends', () => {
    const limits = { tokensPerMinute: 1_000 };
    const admitted = admit(openRates('t', 0), { id: 'a', tokens: 300, leaseMs: LEASE_MS * 10 }, limits, 0);
    if (admitted.kind !== 'admitted') throw new Error('It was refused.');
    const later = finish(admitted.account, 'a', 500, RATE_WINDOW_MS + 1);
    expect(rateLimitState(later, limits, RATE_WINDOW_MS + 1).tokens).to.deep.equal({ limit: 1_000, remaining: 800 });
    const cheaper = finish(admitted.account, 'a', 100, RATE_WINDOW_MS + 1);
    expect(rateLimitState(cheaper, limits, RATE_WINDOW_MS + 1).tokens?.remaining).to.equal(1_000);
    const inTime = finish(admitted.account, 'a', 500, 10);
    expect(rateLimitState(inTime, limits, 10).tokens?.remaining).to.equal(500);
  });

  it('keep requests that are renewed, and forget the others', () => {
    const limits = { parallel: 2 };
    let account = openRates('t', 0);
    for (const id of ['alive', 'dead']) {
      const result = admit(account, { id, tokens: 0, leaseMs: LEASE_MS }, limits, 0);
      if (result.kind === 'admitted') ({ account } = result);
    }
    account = renew(account, new Set(['alive']), 1.5 * LEASE_MS, LEASE_MS / 2);
    const next = { id: 'next', tokens: 0, leaseMs: LEASE_MS };
    expect(admit(account, next, limits, LEASE_MS - 1)).to.include({ kind: 'refused', what: 'parallel', used: 2 });
    const after = admit(account, next, limits, LEASE_MS);
    expect(after).to.have.nested.property('account.leases').with.length(2);
  });
});
