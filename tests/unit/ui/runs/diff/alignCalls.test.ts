import { expect } from 'chai';
import { alignCalls } from '../../../../../imports/ui/runs/diff/alignCalls';
import { diffTexts } from '../../../../../imports/ui/runs/diff/diffTexts';

const calls = (...names: readonly string[]) => names.map((each) => ({ name: each[0] ?? '', arguments: each.slice(1) }));
const shown = (left: readonly string[], right: readonly string[]): readonly string[] =>
  alignCalls(calls(...left), calls(...right)).map(
    ({ left: a, right: b }) =>
      `${a === undefined ? '–' : a.name + a.arguments} ${b === undefined ? '–' : b.name + b.arguments}`,
  );

describe('alignCalls', () => {
  it('puts calls of the same tool side by side, in the order of both runs', () => {
    expect(shown(['a', 'b', 'c'], ['a', 'c', 'd'])).to.deep.equal(['a a', 'b –', 'c c', '– d']);
  });

  it('prefers equal arguments', () => {
    expect(shown(['a1', 'a2'], ['a2'])).to.deep.equal(['a1 –', 'a2 a2']);
    expect(shown(['a1'], ['a2', 'a1'])).to.deep.equal(['– a2', 'a1 a1']);
  });

  it('takes runs without calls, and ones with thousands', () => {
    expect(shown([], [])).to.deep.equal([]);
    expect(shown([], ['a'])).to.deep.equal(['– a']);
    const many = Array.from({ length: 1_500 }, () => 'a');
    expect(shown(many, many)).to.have.length(1_500);
  });
});

describe('diffTexts', () => {
  it('marks words that only one text has', () => {
    expect(diffTexts('Weather in Oslo, please', 'Weather in Lisbon, please')).to.deep.equal([
      { text: 'Weather in ', side: 'both' },
      { text: 'Oslo', side: 'left' },
      { text: 'Lisbon', side: 'right' },
      { text: ', please', side: 'both' },
    ]);
  });

  it('restores both texts from its parts', () => {
    const lines = Array.from({ length: 3_000 }, (_, index) => `line ${index}\n`);
    const [left, right] = [lines.join(''), lines.map((line, index) => (index % 300 === 7 ? 'other\n' : line)).join('')];
    const parts = diffTexts(left, right) ?? [];
    expect(parts.length).to.be.above(10);
    const textOf = (side: 'left' | 'right'): string =>
      parts
        .filter((part) => part.side === side || part.side === 'both')
        .map(({ text }) => text)
        .join('');
    expect(textOf('left')).to.equal(left);
    expect(textOf('right')).to.equal(right);
  });
});
