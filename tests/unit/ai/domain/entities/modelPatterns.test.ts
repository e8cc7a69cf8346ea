import { expect } from 'chai';
import fc from 'fast-check';
import { permitsModel } from '../../../../../imports/business/ai/domain/entities/modelPatterns';

describe('patterns of permitted models', () => {
  for (const [pattern, permitted, refused] of [
    ['gpt-5-mini', ['gpt-5-mini'], ['gpt-5', 'gpt-5-mini-2', 'GPT-5-mini', '']],
    ['openai/*', ['openai/gpt-5', 'openai/'], ['openai', 'azure/openai/x', 'openai2/x']],
    ['claude-*', ['claude-', 'claude-a-b'], ['anthropic/claude-a', 'claude']],
    ['*-mini', ['-mini', 'gpt-5-mini'], ['mini', 'gpt-5-mini-2']],
    ['a*b*c', ['abc', 'aXbXc', 'abbcc'], ['ac', 'acb', 'ab']],
    ['ab*ba', ['abba', 'abxba'], ['aba']],
    ['*', ['', 'anything/at:all'], []],
  ] as const)
    it(`takes "${pattern}" at its word`, () => {
      for (const name of permitted) expect(permitsModel([pattern], [name]), name).to.equal(true);
      for (const name of refused) expect(permitsModel([pattern], [name]), name).to.equal(false);
    });

  it('agrees with a regular expression', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 6 });
    const name = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });
    fc.assert(
      fc.property(text, name, (pattern, given) => {
        const expected = new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(given);
        expect(permitsModel([pattern], [given])).to.equal(expected);
      }),
    );
  });

  it('permits a model that any pattern permits by any of its names, and none without patterns', () => {
    expect(permitsModel(['x', 'openai/*'], ['gpt-5', 'openai/gpt-5'])).to.equal(true);
    expect(permitsModel([], ['gpt-5'])).to.equal(false);
  });
});
