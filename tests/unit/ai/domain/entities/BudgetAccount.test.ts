/** The moves of a user's budget. */
import { expect } from 'chai';
import {
  endOfWindow,
  release,
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
        });
        expect(kindOf(release(twice, 'a', NOON), limits)).to.equal('held');
      });
    }
  }

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
    expect(kindOf(account, {}, NOON, turn(1, 'run-999'))).to.equal('paid');
  });
});
