import { expect } from 'chai';
import { selectAffected } from '../../runner/changedFiles.cjs';

const TESTS = [
  'tests/unit/ui/data/reducers/deriveLiveText.test.ts',
  'tests/unit/ai/application/services/AgenticLoop.test.ts',
  'tests/contracts/docs.test.ts',
  'tests/contracts/recordings.test.ts',
];

describe('the tests that a change can have broken', () => {
  it('are those that import it, however far away', () => {
    expect(selectAffected(TESTS, ['imports/business/ai/domain/run/nextStep.ts'])).to.include(TESTS[1]);
    expect(selectAffected(TESTS, ['imports/business/ai/domain/run/nextStep.ts'])).not.to.include(TESTS[0]);
  });

  it('are those that read its folder, if nobody imports it', () => {
    expect(selectAffected(TESTS, ['docs/guides/production.md'])).to.deep.equal(['tests/contracts/docs.test.ts']);
  });

  it('are all, if it is what everything depends on', () => {
    for (const file of ['package.json', 'tests/stubs/meteor/meteor.ts', 'tests/runner/compileSource.cjs'])
      expect(selectAffected(TESTS, [file])).to.deep.equal(TESTS);
  });

  it('are themselves, if they have changed', () => {
    expect(selectAffected(TESTS, [TESTS[0]!])).to.deep.equal([TESTS[0]]);
  });
});
