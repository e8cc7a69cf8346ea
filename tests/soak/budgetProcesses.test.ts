/** More concurrent calls of several processes than a budget permits, counted at the vendor. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { startSimulator } from '../../imports/simulator/startSimulator';
import type { BudgetChildOptions, Outcomes } from '../support/budgetChild';
import { bundleChild } from '../support/bundleChild';
import { startTestMongo } from '../support/startTestMongo';

const PROCESSES = 3;
const CALLS = 100;
const LIMIT = 100;

describe(`${PROCESSES * CALLS} concurrent calls with a budget for ${LIMIT}`, () => {
  it(`sends exactly as many as permitted from ${PROCESSES} processes`, async () => {
    const [simulator, mongo, bundle] = await Promise.all([
      startSimulator(),
      startTestMongo(),
      bundleChild(join(__dirname, '../support/budgetChild.ts')),
    ]);
    try {
      const options: BudgetChildOptions = {
        mongoUrl: mongo.url,
        baseURL: simulator.baseURL('openai'),
        calls: CALLS,
        limit: LIMIT,
      };
      const children = Array.from({ length: PROCESSES }, () => fork(bundle, [JSON.stringify(options)]));
      await Promise.all(children.map((child) => once(child, 'message')));
      const outcomes = await Promise.all(
        children.map(async (child) => {
          const message = once(child, 'message') as Promise<[Outcomes]>;
          child.send('go');
          return (await message)[0];
        }),
      );
      expect(total(outcomes, 'answered')).to.equal(LIMIT);
      expect(total(outcomes, 'budget-exceeded')).to.equal(PROCESSES * CALLS - LIMIT);
      expect(simulator.requests).to.have.length(LIMIT);
    } finally {
      await simulator.close();
      await mongo.stop();
      await rm(bundle);
    }
  });
});

function total(outcomes: readonly Outcomes[], outcome: string): number {
  return outcomes.reduce((sum, each) => sum + (each[outcome] ?? 0), 0);
}
