import { expect } from 'chai';
import fc from 'fast-check';
import {
  admitRequest,
  finish,
  openRates,
  RATE_WINDOW_MS,
  rateLimitState,
  renew,
  reserveTokens,
} from '../../../../imports/business/limits/domain/RateAccount';
import type { RateAccount } from '../../../../imports/business/limits/domain/RateAccount';

const LEASE_MS = RATE_WINDOW_MS;

describe('the rates of an API token', () => {
  it('never admit more than the limits, whatever comes in which order', () => {
    const event = fc.record({
      after: fc.nat(20_000),
      kind: fc.constantFrom('calls', 'calls', 'connections', 'nothing', 'tokens', 'finish', 'finish'),
      tokens: fc.nat(60),
      at: fc.nat(10),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const limits = { requestsPerMinute: 5, tokensPerMinute: 100, parallel: 2 };
        let now = 0;
        let account: RateAccount = openRates('t', now);
        const running: { readonly id: string; readonly kind: string }[] = [];
        const admitted = new Map<number, number>();
        events.forEach(({ after, kind, tokens, at }, index) => {
          now += after;
          const id = String(index);
          const leaseMs = LEASE_MS * 100;
          if (kind === 'finish') {
            const [ended] = running.splice(at % Math.max(running.length, 1), 1);
            if (ended !== undefined) account = finish(account, ended.id, 0, now);
            return;
          }
          const result =
            kind === 'tokens'
              ? reserveTokens(account, { id, tokens, leaseMs }, limits, now)
              : admitRequest(account, { id, holds: kind, leaseMs }, limits, now);
          if (result.kind === 'refused') return;
          ({ account } = result);
          if (kind !== 'nothing') running.push({ id, kind });
          const minute = Math.floor(now / RATE_WINDOW_MS);
          if (kind !== 'tokens') admitted.set(minute, (admitted.get(minute) ?? 0) + 1);
          expect(rateLimitState(account, limits, now).tokens?.remaining).to.be.at.least(0);
          for (const held of ['calls', 'connections'])
            expect(running.filter((each) => each.kind === held)).to.have.length.at.most(limits.parallel);
        });
        for (const count of admitted.values()) expect(count).to.be.at.most(limits.requestsPerMinute);
      }),
    );
  });

  it('count what exceeds a reservation in the minute in which the request ends', () => {
    const limits = { tokensPerMinute: 1_000 };
    const admitted = reserveTokens(openRates('t', 0), { id: 'a', tokens: 300, leaseMs: LEASE_MS * 10 }, limits, 0);
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
      const result = admitRequest(account, { id, holds: 'calls', leaseMs: LEASE_MS }, limits, 0);
      if (result.kind === 'admitted') ({ account } = result);
    }
    const stream = admitRequest(account, { id: 'stream', holds: 'connections', leaseMs: LEASE_MS }, limits, 0);
    expect(stream.kind, 'streams are beside requests').to.equal('admitted');
    account = renew(account, new Set(['alive']), 1.5 * LEASE_MS, LEASE_MS / 2);
    const next = { id: 'next', holds: 'calls', leaseMs: LEASE_MS } as const;
    expect(admitRequest(account, next, limits, LEASE_MS - 1)).to.include({
      kind: 'refused',
      what: 'parallel',
      used: 2,
    });
    const after = admitRequest(account, next, limits, LEASE_MS);
    expect(after).to.have.nested.property('account.leases').with.length(2);
  });
});
