/** Budgets that admins set at run time, on every store, with calls that they then refuse. */
import { expect } from 'chai';
import { BUDGET_OPERATIONS } from '../../imports/business/limits/application/budgetOperations';
import { Budgets } from '../../imports/business/limits/application/Budgets';
import { bindOperations } from '../../imports/host/bindOperations';
import type { OperationsOf } from '../../imports/host/bindOperations';
import type { BudgetSettings } from '../../imports/business/ai/domain/entities/BudgetAccount';
import {
  BudgetError,
  LLMAuthError,
  LLMInvalidRequestError,
  LLMPermissionError,
} from '../../imports/business/ai/domain/errors/LLMErrors';
import type { Actor } from '../../imports/business/ai/domain/types/Actor';
import { createAIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import type { AIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import { BUDGET_LIMITS, DocumentBudgetLimits } from '../../imports/business/limits/infrastructure/DocumentBudgetLimits';
import { BUDGETS, DocumentBudgetStore } from '../../imports/business/limits/infrastructure/DocumentBudgetStore';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { CANARY } from '../support/canaries';
import { QUICK_DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { failure } from '../support/failure';
import { RecordingLogger } from '../support/RecordingLogger';

const ADMIN: Actor = { userId: 'root', isAdmin: true, source: 'http' };
const ANN: Actor = { userId: 'ann', source: 'http' };
/** Ids may contain anything. */
const ODD = 'ün%ï/co:dé';

for (const [name, open] of Object.entries(QUICK_DATABASES)) {
  describe(`budgets set at run time, stored in ${name}`, () => {
    let opened: TestDatabase;
    let simulator: Simulator;
    let logger: RecordingLogger;
    let module: AIModule;
    let operations: OperationsOf<typeof BUDGET_OPERATIONS>;
    beforeEach(async () => {
      [opened, simulator] = await Promise.all([open(), startSimulator()]);
      logger = new RecordingLogger();
      ({ module, operations } = await create());
    });
    afterEach(async () => {
      await module.close();
      await simulator.close();
      await opened.close();
    });

    const create = async (
      settings?: BudgetSettings,
    ): Promise<{ module: AIModule; operations: OperationsOf<typeof BUDGET_OPERATIONS> }> => {
      const accounts = new DocumentBudgetStore(opened.database.collection(BUDGETS));
      await accounts.ready();
      const limits = new DocumentBudgetLimits(opened.database.collection(BUDGET_LIMITS));
      const apiKey = `sk-${CANARY}`;
      const created = createAIModule(
        {
          providers: [
            { id: 'openai', vendor: 'openai', baseURL: simulator.baseURL('openai'), apiKey, allowPrivateHosts: true },
            {
              id: 'local',
              vendor: 'openai_compatible',
              baseURL: simulator.baseURL('openai_compatible'),
              apiKey,
              allowPrivateHosts: true,
              defaultModel: 'home-made',
            },
          ],
          ...(settings === undefined ? {} : { budgets: settings }),
        },
        { budgets: accounts, budgetLimits: limits, logger },
      );
      return {
        module: created,
        operations: bindOperations(BUDGET_OPERATIONS, {
          budgets: new Budgets({
            policy: created.budgetPolicy,
            limits,
            accounts,
            usageSettled: created.usageSettled,
            searchUsers: (start) => Promise.resolve('lin@x.org'.startsWith(start) ? [ODD, 'new'] : []),
            logger,
          }),
        }),
      };
    };
    const ask = (userId: string, model = 'openai/gpt-5-mini'): Promise<string> =>
      module.manager.generateText(userId, 'Hello', { model });
    const budgetOf = async (userId: string, from = operations) =>
      (await from['ai.budgets.list'](ADMIN, {})).budgets.find((budget) => budget.userId === userId);

    it('are enforced at once on a host that had none configured', async () => {
      await ask('ann');
      await operations['ai.budgets.set'](ADMIN, { userId: 'ann', limits: { day: { calls: 2 } } });
      await ask('ann');
      const refused = await failure(ask('ann'));
      expect(refused).to.be.instanceOf(BudgetError);
      await ask('bob');
      expect(simulator.requests).to.have.length(3);
      await operations['ai.budgets.remove'](ADMIN, { userId: 'ann' });
      await ask('ann');
    });

    it('count what users without limits use, so that a limit covers the entire window', async () => {
      await ask('ann');
      const counted = await budgetOf('ann');
      expect(counted).to.deep.include({ limits: {}, source: 'none', isOwn: false });
      expect(counted?.usage.day.used.calls).to.equal(1);
      expect(counted?.usage.day.used.tokens).to.be.above(0);
      expect(counted?.usage.month.used.money).to.be.above(0);
      expect(counted?.usage.month.held).to.deep.equal({ calls: 0, tokens: 0, money: 0 });
      expect(counted?.usage.day.resetsAt).to.be.above(Date.now());
    });

    it('are listed with what calls up to then have used, also where it was not stored yet', async () => {
      for (let call = 1; call <= 3; call += 1) {
        await ask('ann');
        expect((await budgetOf('ann'))?.usage.day.used.calls).to.equal(call);
      }
    });

    it('count the calls whose price is unknown', async () => {
      await ask('ann', 'local');
      expect((await budgetOf('ann'))?.usage.day.used).to.include({ calls: 1, money: 0, unpriced: 1 });
    });

    it('apply to everyone, unless a user has limits of their own', async () => {
      await operations['ai.budgets.set'](ADMIN, { limits: { month: { calls: 1 } } });
      await operations['ai.budgets.set'](ADMIN, { userId: ODD, limits: {} });
      await ask('ann');
      expect(await failure(ask('ann'))).to.be.instanceOf(BudgetError);
      await ask(ODD);
      await ask(ODD);
      const list = await operations['ai.budgets.list'](ADMIN, {});
      expect(list.everyone).to.deep.include({
        limits: { month: { calls: 1 } },
        source: 'dashboard',
        changedBy: 'root',
      });
      expect(list.budgets.map(({ userId, isOwn }) => [userId, isOwn])).to.deep.equal([
        ['ann', false],
        [ODD, true],
      ]);
      expect((await operations['ai.budgets.list'](ADMIN, { search: 'ün%' })).budgets).to.have.length(1);
      const named = await operations['ai.budgets.list'](ADMIN, { search: 'lin@' });
      expect(
        named.budgets.map(({ userId, isOwn, usage }) => [userId, isOwn, usage.day.used.calls]),
      ).to.have.deep.members([
        [ODD, true, 2],
        ['new', false, 0],
      ]);
    });

    it('replace those of the settings, and give way to them again', async () => {
      await module.close();
      ({ module, operations } = await create({ day: { calls: 5 }, users: { ann: { day: { calls: 7 } } } }));
      expect(await budgetOf('ann')).to.deep.include({ limits: { day: { calls: 7 } }, source: 'settings', isOwn: true });
      await operations['ai.budgets.set'](ADMIN, {
        userId: 'ann',
        limits: { day: { tokens: 9 }, month: { money: 0.5 } },
      });
      expect(await budgetOf('ann')).to.deep.include({
        limits: { day: { tokens: 9 }, month: { money: 0.5 } },
        source: 'dashboard',
      });
      // Fields that a change leaves out are gone.
      await operations['ai.budgets.set'](ADMIN, { userId: 'ann', limits: { day: { calls: 8 } } });
      expect(await budgetOf('ann')).to.deep.include({ limits: { day: { calls: 8 } } });
      expect(await operations['ai.budgets.remove'](ADMIN, { userId: 'ann' })).to.deep.include({ source: 'settings' });
      expect(logger.infos).to.deep.equal([
        'The budget of the user "ann" was set.',
        'The budget of the user "ann" was set.',
        'The budget of the user "ann" was reset to the settings.',
      ]);
      expect(logger.details[0]).to.deep.include({ by: 'root' });
    });

    it('reach other processes', async () => {
      let now = 0;
      const limits = new DocumentBudgetLimits(opened.database.collection(BUDGET_LIMITS));
      const other = new (module.budgetPolicy.constructor as new (options: object) => AIModule['budgetPolicy'])({
        store: limits,
        clock: () => now,
      });
      expect(await other.limitsOf('ann')).to.equal(undefined);
      await operations['ai.budgets.set'](ADMIN, { userId: 'ann', limits: { day: { calls: 2 } } });
      expect(await other.limitsOf('ann'), 'still cached').to.equal(undefined);
      now += 2_000;
      expect(await other.limitsOf('ann')).to.deep.equal({ day: { calls: 2 } });
    });

    it('are shown to their user, and changed by admins only', async () => {
      await operations['ai.budgets.set'](ADMIN, { userId: 'ann', limits: { day: { calls: 2 } } });
      await operations['ai.budgets.set'](ADMIN, { userId: 'bob', limits: { day: { calls: 3 } } });
      const { budgets, everyone } = await operations['ai.budgets.list'](ANN, {});
      expect(budgets.map(({ userId }) => userId)).to.deep.equal(['ann']);
      expect(budgets[0]).not.to.have.property('changedBy');
      expect(everyone).not.to.have.property('changedBy');
      for (const change of [
        operations['ai.budgets.set'](ANN, { userId: 'ann', limits: {} }),
        operations['ai.budgets.remove'](ANN, { userId: 'ann' }),
      ])
        expect(await failure(change)).to.be.instanceOf(LLMPermissionError);
      expect(await failure(operations['ai.budgets.list']({ userId: '', source: 'http' }))).to.be.instanceOf(
        LLMAuthError,
      );
    });

    for (const [path, argument] of Object.entries({
      limits: { userId: 'ann' },
      'limits.day.calls': { limits: { day: { calls: 1.5 } } },
      'limits.month.money': { limits: { month: { money: -1 } } },
      'limits.year': { limits: { year: { calls: 1 } } },
      userId: { userId: 'a\nb', limits: {} },
    }))
      it(`refuse an invalid ${path}`, async () => {
        const refused = await failure(operations['ai.budgets.set'](ADMIN, argument));
        expect(refused).to.be.instanceOf(LLMInvalidRequestError);
        expect((refused as LLMInvalidRequestError).path).to.equal(path);
      });
  });
}
