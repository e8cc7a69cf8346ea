/** A benchmark's runner replaces its own rows of the results, and nothing else. */
import { expect } from 'chai';
import { withSection } from '../../../bench/resultsPage';

const SECTION = {
  title: 'Calls',
  intro: 'CPU time.',
  head: ['workload', 'wire', 'ours'],
  keys: 2,
  order: ['W1 ', 'W2 '],
};
const PAGE = '# Results\n\nAn introduction.\n\n## Gateway\n\nAnother runner wrote this.\n';

const rowsIn = (page: string): string[] => page.split('\n').filter((line) => line.startsWith('| W'));

describe('the page of benchmark results', () => {
  const first = withSection(PAGE, { ...SECTION, rows: [['W2 streams', 'openai', '0.5']] }, 'Monday');

  it('adds a section, and leaves the others as they are', () => {
    expect(first).to.contain('## Gateway\n\nAnother runner wrote this.\n').and.to.contain('\n## Calls\n\nCPU time.\n');
    expect(first.startsWith('# Results\n\nAn introduction.\n')).to.equal(true);
    expect(rowsIn(first)).to.deep.equal(['| W2 streams | openai | 0.5 | Monday |']);
  });

  it('replaces the rows that were measured again, keeps the others, and sorts them', () => {
    const rows = [
      ['W2 streams', 'anthropic', '0.8'],
      ['W1 calls', 'openai', '0.4'],
    ];
    const second = withSection(first, { ...SECTION, rows }, 'Tuesday');
    expect(rowsIn(second)).to.deep.equal([
      '| W1 calls | openai | 0.4 | Tuesday |',
      '| W2 streams | openai | 0.5 | Monday |',
      '| W2 streams | anthropic | 0.8 | Tuesday |',
    ]);
    const third = withSection(second, { ...SECTION, rows: [['W2 streams', 'openai', '0.3']] }, 'Friday');
    expect(rowsIn(third)).to.include('| W2 streams | openai | 0.3 | Friday |').and.to.have.lengthOf(3);
    expect(third.match(/^## Calls$/gm)).to.have.lengthOf(1);
  });

  it('keeps the cells of earlier rows under their columns when a column is added', () => {
    const head = ['workload', 'wire', 'theirs', 'ours'];
    const page = withSection(first, { ...SECTION, head, rows: [['W1 calls', 'openai', '1.0', '0.4']] }, 'Tuesday');
    expect(rowsIn(page)).to.deep.equal([
      '| W1 calls | openai | 1.0 | 0.4 | Tuesday |',
      '| W2 streams | openai | – | 0.5 | Monday |',
    ]);
  });
});
