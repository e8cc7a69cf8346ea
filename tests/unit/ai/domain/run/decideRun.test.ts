/** The table of decisions, as docs/run-machine.md shows it. */
import { expect } from 'chai';
import { RULES } from '../../../../../imports/business/ai/domain/run/decideRun';
import { readPage, tableRowsOf } from '../../../../support/docs/markdown';

describe('The table of a run’s events', () => {
  it('is documented, with the phases in which each event means something', () => {
    const rows = tableRowsOf(readPage('docs/run-machine.md'));
    const documented = rows.flatMap(([event = '', during = '']) => {
      const name = /^`(\w+)`$/.exec(event)?.[1];
      return name !== undefined && Object.hasOwn(RULES, name) ? [`${name}: ${during.replaceAll('`', '')}`] : [];
    });
    const rules = Object.entries(RULES).map(([name, { during }]) => `${name}: ${during?.join(', ') ?? 'all'}`);
    expect(documented).to.have.members(rules);
  });
});
