/** More concurrent calls than a budget permits, counted at the vendor. */
import { expect } from 'chai';
import type { BudgetAccount } from '../../imports/business/ai/domain/entities/BudgetAccount';
import type { BudgetStore } from '../../imports/business/limits/domain/BudgetStore';
import { BUDGETS, DocumentBudgetStore } from '../../imports/business/limits/infrastructure/DocumentBudgetStore';
import type { BudgetDocument } from '../../imports/business/limits/infrastructure/DocumentBudgetStore';
import { MemoryBudgetStore } from '../../imports/business/limits/infrastructure/MemoryBudgetStore';
import { generateConcurrently, budgetModule } from '../support/budgetChild';
import type { Outcomes } from '../support/budgetChild';
import { QUICK_DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';

const PROCESSES = 3;
const CALLS = 100;
const LIMIT = 100;

describe(`${PROCESSES * CALLS} concurrent calls with a budget for ${LIMIT}`, () => {
  let simulator: Simulator;
  beforeEach(async () => {
    simulator = await startSimulator();
  });
  afterEach(() => simulator.close());

  /** Three modules in this process compete for the account as three processes would. */
  const askEverywhere = async (store: () => BudgetStore): Promise<number> => {
    const outcomes = await Promise.all(
      Array.from({ length: PROCESSES }, () =>
        generateConcurrently(budgetModule(simulator.baseURL('openai'), LIMIT, store()), CALLS),
      ),
    );
    const answered = total(outcomes, 'answered');
    expect(total(outcomes, 'budget-exceeded') + answered).to.equal(PROCESSES * CALLS);
    expect(simulator.requests).to.have.length(answered);
    return answered;
  };

  it('sends exactly as many as permitted from one process', async () => {
    const store = new MemoryBudgetStore();
    expect(await askEverywhere(() => store)).to.equal(LIMIT);
  });

  for (const [name, open] of Object.entries(QUICK_DATABASES)) {
    describe(`stored in ${name}`, () => {
      let opened: TestDatabase;
      beforeEach(async () => {
        opened = await open();
      });
      afterEach(() => opened.close());

      it('sends exactly as many as permitted, and leaves no reservation', async () => {
        const collection = opened.database.collection<BudgetDocument>(BUDGETS);
        await new DocumentBudgetStore(collection).ready();
        expect(await askEverywhere(() => new DocumentBudgetStore(collection))).to.equal(LIMIT);
        expect(await collection.findOne({})).to.include({ day_calls: LIMIT, month_calls: LIMIT, holds: '[]' });
      });
    });
  }

  it('would send more without compare-and-set', async () => {
    const careless = new MemoryBudgetStore();
    const store: BudgetStore = {
      // Values are stale by the time they are used, as with a database.
      async find(userId) {
        const found = await careless.find(userId);
        await new Promise(setImmediate);
        return found;
      },
      async replace(account: BudgetAccount) {
        return careless.replace(account, (await careless.find(account.userId))?.revision ?? 0);
      },
    };
    expect(await askEverywhere(() => store)).to.be.above(LIMIT);
  });
});

function total(outcomes: readonly Outcomes[], outcome: string): number {
  return outcomes.reduce((sum, each) => sum + (each[outcome] ?? 0), 0);
}
