import { expect } from 'chai';
import { warningsHeader } from '../../../../imports/api/http/warningsHeader';

const MOST = 4_096;

function read(header: string): readonly string[] {
  // A header of warnings is a list of texts.
  return JSON.parse(header) as readonly string[];
}

describe('the header of warnings', () => {
  it('holds as many as fit, and how many more there are', () => {
    for (const count of [1, 5, 40, 41, 42, 43, 500, 33_333]) {
      const warnings = Array.from({ length: count }, (_, at) => `${at}: ${'ü'.repeat(12)}`.padEnd(30, '.'));
      const header = warningsHeader(warnings);
      expect(header.length).to.be.at.most(MOST);
      expect(header).to.match(/^[\x20-\x7e]+$/);
      const shown = read(header);
      const left = count - shown.length + 1;
      if (left > 1) expect(shown.at(-1)).to.equal(`… and ${left} more.`);
      else expect(shown).to.deep.equal(warnings);
      if (left > 1) expect(header.length, 'no other fits').to.be.greaterThan(MOST - 250);
      expect(shown.slice(0, -1)).to.deep.equal(warnings.slice(0, shown.length - 1));
    }
  });

  it('reads no more warnings than fit', () => {
    let reads = 0;
    const warnings = Array.from({ length: 30_000 }, () => 'x'.repeat(100));
    const counted = new Proxy(warnings, {
      get(target, key, receiver) {
        if (typeof key === 'string' && /^\d+$/.test(key)) reads += 1;
        return Reflect.get(target, key, receiver) as unknown;
      },
    });
    warningsHeader(counted);
    expect(reads).to.be.lessThan(500);
  });

  it('only counts those that fit on their own no more', () => {
    expect(read(warningsHeader(['x'.repeat(MOST)]))).to.deep.equal(['… and 1 more.']);
  });
});
