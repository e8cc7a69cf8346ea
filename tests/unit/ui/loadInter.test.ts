import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { UNICODE_RANGES } from '../../../imports/ui/loadInter';

const PACKAGE = dirname(require.resolve('@fontsource-variable/inter/package.json'));
const PUBLIC = join(__dirname, '../../../public/bolide');

describe('loadInter', () => {
  it('covers the subsets of the package’s style sheet, with their characters', () => {
    const styles = readFileSync(join(PACKAGE, 'index.css'), 'utf8');
    const subsets = styles.matchAll(/inter-([a-z-]+)-wght-normal\.woff2.*?unicode-range: ([^;]+);/gs);
    expect(UNICODE_RANGES).to.deep.equal(Object.fromEntries([...subsets].map(([, name, range]) => [name, range])));
  });

  it('loads the package’s files, which the repository serves under Meteor', () => {
    const files = Object.keys(UNICODE_RANGES).map((subset) => `inter-${subset}-wght-normal.woff2`);
    expect(readdirSync(PUBLIC).filter((name) => name.endsWith('.woff2'))).to.have.members(files);
    for (const file of files)
      expect(readFileSync(join(PUBLIC, file)).equals(readFileSync(join(PACKAGE, 'files', file))), file).to.equal(true);
  });
});
