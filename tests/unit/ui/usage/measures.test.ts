import { expect } from 'chai';
import type { UsageFigures } from '../../../../imports/business/usage/domain/UsageReports';
import { MODEL_MEASURES, TOOL_MEASURES } from '../../../../imports/ui/usage/measures';

const FIGURES: UsageFigures = {
  requests: 7,
  errors: 2,
  tokens: { input: 1_000, cached: 300, cacheWrite: 50, output: 400, reasoning: 150 },
  cost: 0.25,
  unpriced: 1,
  duration: { p50: 100, p95: 900 },
  timeToFirstToken: { p50: 10, p95: 90 },
};

describe('the measures of a usage report', () => {
  const columns = [...MODEL_MEASURES, ...TOOL_MEASURES].filter(({ kind }) => kind === 'columns');

  for (const { label, name, parts, valueOf } of columns)
    it(`stack to the value of a group, so that nothing is drawn twice: ${label}`, () => {
      const values = parts.map((part) => part.valueOf(FIGURES));
      expect(values).not.to.include(undefined);
      expect(values.reduce<number>((sum, value = 0) => sum + value, 0)).to.equal(valueOf(FIGURES));
      if (name !== 'errors') expect(Math.min(...values.map((value = 0) => value))).to.be.above(0);
    });

  it('show each kind of token on its own', () => {
    const tokens = MODEL_MEASURES.find(({ name }) => name === 'tokens');
    expect(tokens?.parts.map(({ label, valueOf }) => [label, valueOf(FIGURES)])).to.deep.equal([
      ['Input', 700],
      ['Cached input', 300],
      ['Output', 250],
      ['Reasoning', 150],
    ]);
  });

  it('show the times of a group by its slow calls', () => {
    const times = MODEL_MEASURES.filter(({ kind }) => kind === 'lines');
    expect(
      times.map(({ parts, valueOf }) => [...parts.map((part) => part.valueOf(FIGURES)), valueOf(FIGURES)]),
    ).to.deep.equal([
      [100, 900, 900],
      [10, 90, 90],
    ]);
  });

  it('have no value for what was not measured', () => {
    const values = MODEL_MEASURES.map(({ valueOf }) => valueOf({ requests: 1, errors: 0 }));
    expect(values).to.deep.equal([undefined, 1, undefined, 0, undefined, undefined]);
  });
});
