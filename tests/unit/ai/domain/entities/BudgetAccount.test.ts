/** The moves of a user's budget. */
import { expect } from 'chai';
import * as fc from 'fast-check';
import {
  endOfWindow,
  release,
  renew,
  openBudget,
  reserve,
  settle,
} from '../../../../../imports/business/ai/domain/entities/BudgetAccount';
import type {
  Amount,
  BudgetAccount,
  BudgetLimits,
  RunTurn,
} from '../../../../../imports/business/ai/domain/entities/BudgetAccount';
import { inTimeZone } from '../../../../support/inTimeZone';

const NOON = Date.UTC(2026, 10, 22, 12);
const HOUR = 3_600_000;
const LEASE = HOUR / 2;
const CALL: Amount = { calls: 1, tokens: 100, money: 0.5 };
const turn = (iteration: number, executionId = 'run-1'): RunTurn => ({ executionId, iteration });

function held(account: BudgetAccount, id: string, limits: BudgetLimits = {}, now = NOON, at?: RunTurn): BudgetAccount {
  const reservation = reserve(
    account,
    { id, ...CALL, leaseMs: LEASE, ...(at === undefined ? {} : { turn: at }) },
    limits,
    now,
  );
  if (reservation.kind !== 'held') throw new Error(`the share was ${reservation.kind}`);
  return reservation.account;
}
const kindOf = (account: BudgetAccount, limits: BudgetLimits, now = NOON, at?: RunTurn): string =>
  reserve(account, { id: 'another', ...CALL, leaseMs: LEASE, ...(at === undefined ? {} : { turn: at }) }, limits, now)
    .kind;

const empty = openBudget('ann', NOON);

describe('a budget account', () => {
  const LIMITS: readonly (readonly [what: keyof Amount, limit: number])[] = [
    ['calls', 2],
    ['tokens', 250],
    ['money', 1.2],
  ];
  for (const [what, limit] of LIMITS) {
    for (const window of ['day', 'month'] as const) {
      it(`rejects a reservation that would exceed the ${window}'s ${what}, held ones counted`, () => {
        const limits = { [window]: { [what]: limit } };
        const twice = held(held(empty, 'a', limits), 'b', limits);
        expect(reserve(twice, { id: 'c', ...CALL, leaseMs: LEASE }, limits, NOON)).to.deep.equal({
          kind: 'refused',
          window,
          what,
          limit,
          used: 0,
          held: 2 * CALL[what],
          roomAt: NOON + LEASE,
        });
        expect(kindOf(release(twice, 'a', NOON), limits)).to.equal('held');
      });
    }
  }

  it('admits a lone call below a limit, whatever it may use, and nothing next to it that might not fit', () => {
    const limits = { day: { tokens: 150 } };
    const ask = (account: BudgetAccount, id: string, tokens: number) =>
      reserve(account, { id, calls: 1, tokens, money: 0, leaseMs: LEASE }, limits, NOON);
    const large = ask(empty, 'large', 1_000_000);
    if (large.kind !== 'held') throw new Error('the lone call was refused');
    expect(ask(large.account, 'tiny', 1)).to.deep.include({ kind: 'refused', used: 0, held: 1_000_000 });
    const spent = settle(held(empty, 'a'), 'a', { calls: 1, tokens: 149, money: 0 }, NOON);
    expect(ask(spent, 'next', 1_000_000).kind).to.equal('held');
    expect(ask(held(empty, 'a'), 'fits', 50).kind).to.equal('held');
    expect(ask(held(empty, 'a'), 'does not', 51).kind).to.equal('refused');
  });

  it('is exceeded by less than one call, however calls come and go', () => {
    const MOST = 400;
    const begin = fc.record({ most: fc.integer({ min: 0, max: MOST }) });
    const end = fc.record({ which: fc.nat(), share: fc.double({ min: 0, max: 1, noNaN: true }) });
    const steps = fc.array(fc.oneof({ weight: 3, arbitrary: begin }, { weight: 2, arbitrary: end }), {
      maxLength: 100,
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), steps, (limit, moves) => {
        let account = empty;
        const running: { readonly id: string; readonly tokens: number }[] = [];
        for (const [step, move] of moves.entries()) {
          if ('most' in move) {
            const call = { id: String(step), tokens: move.most };
            const asked = { ...call, calls: 1, money: 0, leaseMs: LEASE };
            const result = reserve(account, asked, { day: { tokens: limit } }, NOON);
            if (running.length === 0 && account.used.day.tokens < limit) expect(result.kind).to.equal('held');
            if (result.kind !== 'held') continue;
            ({ account } = result);
            running.push(call);
          } else {
            const [call] = running.splice(move.which % Math.max(1, running.length), 1);
            if (call === undefined) continue;
            account = settle(
              account,
              call.id,
              { calls: 1, tokens: Math.floor(call.tokens * move.share), money: 0 },
              NOON,
            );
          }
          // The usage if all calls in progress used what they have reserved.
          const possible = running.reduce((sum, { tokens }) => sum + tokens, account.used.day.tokens);
          expect(possible).to.be.below(limit + MOST);
        }
      }),
    );
  });

  it('keeps the reservations of calls that are still in progress when they are renewed, and revives none', () => {
    const limits = { day: { calls: 2 } };
    const both = held(held(empty, 'alive', limits), 'dead', limits);
    const renewed = renew(both, new Set(['alive']), NOON + 2 * LEASE, NOON + LEASE - 1);
    expect(renewed.holds.map(({ id, until }) => [id, until - NOON])).to.deep.equal([
      ['alive', 2 * LEASE],
      ['dead', LEASE],
    ]);
    expect(kindOf(renewed, { day: { calls: 1 } }, NOON + LEASE)).to.equal('refused');
    const late = renew(both, new Set(['alive', 'dead']), NOON + 3 * LEASE, NOON + LEASE);
    expect(late.holds).to.deep.equal([]);
  });

  it('charges what was used instead of what was reserved', () => {
    const { used, holds } = settle(held(empty, 'a'), 'a', { calls: 1, tokens: 7, money: 0.01 }, NOON);
    expect(used).to.deep.equal({
      day: { calls: 1, tokens: 7, money: 0.01 },
      month: { calls: 1, tokens: 7, money: 0.01 },
    });
    expect(holds).to.deep.equal([]);
  });

  it('rejects any reservation once the budget is used up', () => {
    const spent = settle(held(empty, 'a'), 'a', { calls: 1, tokens: 200, money: 0 }, NOON);
    expect(
      reserve(spent, { id: 'b', calls: 1, tokens: 0, money: 0, leaseMs: LEASE }, { day: { tokens: 200 } }, NOON).kind,
    ).to.equal('refused');
  });

  it('starts anew each day and each month', () => {
    const used = settle(held(empty, 'a'), 'a', CALL, NOON);
    const limits = { day: { calls: 1 } };
    expect(kindOf(used, limits, endOfWindow('day', NOON) - 1)).to.equal('refused');
    expect(kindOf(used, limits, endOfWindow('day', NOON))).to.equal('held');
    expect(kindOf(used, { month: { calls: 1 } }, endOfWindow('day', NOON))).to.equal('refused');
    expect(kindOf(used, { month: { calls: 1 } }, endOfWindow('month', NOON))).to.equal('held');
  });

  it('charges a call to the day on which it started', () => {
    const before = endOfWindow('day', NOON) - 1;
    const { used } = settle(held(empty, 'a', {}, before), 'a', CALL, before + 2);
    expect(used).to.deep.equal({ day: { calls: 0, tokens: 0, money: 0 }, month: CALL });
  });

  it('ends a day and a month at midnight in UTC, wherever the machine is', () => {
    for (const zone of ['UTC', 'Pacific/Kiritimati', 'Pacific/Pago_Pago'])
      for (const hour of [0, 12, 23])
        inTimeZone(zone, () => {
          const now = Date.UTC(2026, 10, 30, hour);
          expect(endOfWindow('day', now), zone).to.equal(Date.UTC(2026, 11, 1));
          expect(endOfWindow('month', now), zone).to.equal(Date.UTC(2026, 11, 1));
        });
  });

  it('does not reopen a past day when a clock lags behind', () => {
    const tomorrow = held(empty, 'a', {}, endOfWindow('day', NOON));
    expect(held(tomorrow, 'b', {}, NOON)).to.include({ day: '2026-11-23', month: '2026-11' });
  });

  it('releases a dead process’s reservation when its lease expires', () => {
    const left = held(empty, 'dead');
    expect(kindOf(left, { day: { calls: 1 } }, NOON + LEASE - 1)).to.equal('refused');
    expect(kindOf(left, { day: { calls: 1 } }, NOON + LEASE)).to.equal('held');
  });

  it('charges a call that ends after its lease expired', () => {
    const { used } = settle(held(empty, 'slow'), 'slow', CALL, NOON + 2 * LEASE);
    expect(used.day).to.deep.equal(CALL);
  });

  it('takes over the reservation of the same turn without reserving twice', () => {
    const again = held(held(empty, 'run-1/1', {}, NOON, turn(1)), 'run-1/1', { day: { calls: 1 } }, NOON + 1, turn(1));
    expect(again.holds).to.have.length(1);
    expect(again.holds[0]).to.include({ until: NOON + 1 + LEASE });
  });

  it('charges a turn once, however often it is settled', () => {
    const once = settle(held(empty, 'run-1/1', {}, NOON, turn(1)), 'run-1/1', CALL, NOON, turn(1));
    expect(kindOf(once, { day: { calls: 1 } }, NOON, turn(1))).to.equal('paid');
    expect(kindOf(once, { day: { calls: 1 } }, NOON, turn(2))).to.equal('refused');
    expect(settle(once, 'run-1/1', CALL, NOON + 1, turn(1)).used.day).to.deep.equal(CALL);
    expect(settle(once, 'run-1/2', CALL, NOON + 1, turn(2)).used.day.calls).to.equal(2);
    expect(kindOf(once, { day: { calls: 2 } }, NOON, turn(1, 'run-2'))).to.equal('held');
  });

  it('stores the paid turns of a limited number of runs', () => {
    let account = empty;
    for (let run = 0; run < 1_000; run += 1)
      account = settle(account, `run-${run}/1`, CALL, NOON, turn(1, `run-${run}`));
    expect(account.paid.length).to.be.at.most(200);
    for (const executionId of ['run-999', 'run-900'])
      expect(kindOf(account, {}, NOON, turn(1, executionId))).to.equal('paid');
  });

  describe('that refuses a call', () => {
    const roomAt = (account: BudgetAccount, limits: BudgetLimits, now = NOON): number | undefined => {
      const reservation = reserve(account, { id: 'another', ...CALL, leaseMs: LEASE }, limits, now);
      return reservation.kind === 'refused' ? reservation.roomAt : undefined;
    };
    const used = settle(held(empty, 'a'), 'a', CALL, NOON);
    const midnight = endOfWindow('day', NOON);
    const nextMonth = endOfWindow('month', NOON);

    it('has room again when the window of the limit ends that is reached longest', () => {
      expect(roomAt(used, { day: { calls: 1 } })).to.equal(midnight);
      expect(roomAt(used, { month: { calls: 1 } })).to.equal(nextMonth);
      expect(roomAt(used, { day: { calls: 1 }, month: { calls: 1 } })).to.equal(nextMonth);
      expect(roomAt(used, { day: { calls: 1, tokens: 100 }, month: { calls: 9 } })).to.equal(midnight);
    });

    it('has room again when enough reservations have expired', () => {
      const early = held(used, 'early', {}, NOON);
      const both = held(early, 'late', {}, NOON + 1_000);
      expect(roomAt(both, { day: { calls: 3 } }, NOON + 2_000)).to.equal(NOON + LEASE);
      expect(roomAt(both, { day: { calls: 2 } }, NOON + 2_000)).to.equal(NOON + 1_000 + LEASE);
      expect(roomAt(both, { day: { calls: 3 }, month: { calls: 1 } }, NOON + 2_000)).to.equal(nextMonth);
    });

    it('has room again at the end of a window, for whose successor nothing is reserved', () => {
      const before = midnight - LEASE / 2;
      expect(roomAt(held(empty, 'a', {}, before), { day: { calls: 1 } }, before)).to.equal(midnight);
      expect(roomAt(held(empty, 'a', {}, before), { month: { calls: 1 } }, before)).to.equal(before + LEASE);
    });

    it('counts to the end of its own window while the clock lags behind it', () => {
      const ahead = settle(held(empty, 'a', {}, midnight), 'a', CALL, midnight);
      expect(roomAt(ahead, { day: { calls: 1 } }, midnight - HOUR)).to.equal(endOfWindow('day', midnight));
    });

    it('has room exactly at that time, whatever is used, reserved and limited', () => {
      const amount = fc.record({ calls: fc.integer({ min: 0, max: 3 }), tokens: fc.integer({ min: 0, max: 300 }) });
      const limit = fc.record(
        { calls: fc.integer({ min: 0, max: 6 }), tokens: fc.integer({ min: 0, max: 500 }) },
        { requiredKeys: [] },
      );
      fc.assert(
        fc.property(
          fc.integer({ min: NOON, max: nextMonth - 1 }),
          amount,
          fc.array(fc.tuple(amount, fc.integer({ min: 1, max: 48 * HOUR })), { maxLength: 4 }),
          fc.record({ day: limit, month: limit }, { requiredKeys: [] }),
          (now, paid, holds, limits) => {
            let account = settle(openBudget('ann', now), 'paid', { ...paid, money: 0 }, now);
            for (const [index, [most, leaseMs]] of holds.entries()) {
              const reservation = reserve(account, { id: `${index}`, ...most, money: 0, leaseMs }, {}, now);
              if (reservation.kind === 'held') ({ account } = reservation);
            }
            const at = roomAt(account, limits, now);
            if (at === undefined) return;
            // A limit of nothing never has room.
            if (limits.day?.calls === 0 || limits.day?.tokens === 0) return;
            if (limits.month?.calls === 0 || limits.month?.tokens === 0) return;
            expect(kindOf(account, limits, at - 1)).to.equal('refused');
            expect(kindOf(account, limits, at)).to.equal('held');
          },
        ),
      );
    });
  });
});
