import { expect } from 'chai';
import { LLMConnectionError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { NO_USAGE } from '../../../../imports/business/ai/domain/entities/Response';
import { BudgetReservations } from '../../../../imports/business/limits/application/BudgetReservations';
import type { LimitedCall } from '../../../../imports/business/limits/application/CallLimiter';
import type { BudgetStore } from '../../../../imports/business/limits/domain/BudgetStore';
import { MemoryBudgetStore } from '../../../../imports/business/limits/infrastructure/MemoryBudgetStore';

const CALL: LimitedCall = {
  userId: 'ann',
  options: {},
  model: 'm',
  expected: () => NO_USAGE,
  maximum: () => NO_USAGE,
  price: () => undefined,
};

function open(store: BudgetStore): {
  readonly use: (tokens: number) => void;
  readonly settled: () => Promise<void>;
  readonly errors: string[];
} {
  const errors: string[] = [];
  const reservations = new BudgetReservations({
    store,
    subjectOf: ({ userId }) => ({ id: userId, limits: undefined, name: 'your budget' }),
    countsEveryone: true,
    logger: {
      debug: () => undefined,
      info: () => undefined,
      warn: () => undefined,
      error: (text) => errors.push(text),
    },
  });
  const use = (tokens: number): void => {
    const handle = reservations.admit(CALL);
    if (handle === undefined || handle instanceof Promise)
      throw new Error('A call without limits is admitted at once.');
    void handle.settle({ calls: 1, tokens, money: 0.5 });
    void handle.settle({ calls: 1, tokens, money: 0.5 });
  };
  return { use, settled: () => reservations.settled(), errors };
}

describe('counting calls that have no limits', () => {
  it('charges each call once, whatever is being written', async () => {
    const store = new MemoryBudgetStore();
    const { use, settled } = open(store);
    use(1);
    use(10);
    await new Promise(setImmediate);
    use(100);
    use(1_000);
    await settled();
    expect((await store.find('ann'))?.account.used.day).to.deep.equal({ calls: 4, tokens: 1_111, money: 2 });
  });

  it('reports what could not be charged, and charges what comes after it', async () => {
    const inner = new MemoryBudgetStore();
    let isDown = true;
    const store: BudgetStore = {
      find: (id) => (isDown ? Promise.reject(new LLMConnectionError('no database')) : inner.find(id)),
      replace: (account, revision) => inner.replace(account, revision),
    };
    const { use, settled, errors } = open(store);
    use(1);
    await settled();
    expect(errors).to.deep.equal(['Could not record the usage of "ann".']);
    isDown = false;
    use(10);
    await settled();
    expect((await inner.find('ann'))?.account.used.day).to.deep.equal({ calls: 1, tokens: 10, money: 0.5 });
  });
});
