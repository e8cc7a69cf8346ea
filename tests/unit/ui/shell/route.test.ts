import { expect } from 'chai';
import { linkTo, parseRoute } from '../../../../imports/ui/shell/route';

describe('route', () => {
  it('parses what linkTo wrote', () => {
    for (const path of [[], ['runs'], ['runs', 'a/b?c#d %'], ['runs', 'ä']]) {
      const { path: read, query } = parseRoute(linkTo(path, { text: 'a b&c', state: '' }));
      expect(read).to.deep.equal(path);
      expect([...query]).to.deep.equal([['text', 'a b&c']]);
    }
  });

  it('links to names with broken Unicode, replacing what a URL cannot hold', () => {
    for (const lone of ['\ud83d', '\ude00', 'a\ud83db', '\ude00\ud83d']) {
      const { path, query } = parseRoute(linkTo(['runs', lone], { text: lone }));
      expect(path).to.deep.equal(['runs', lone.toWellFormed()]);
      expect(query.get('text')).to.equal(lone.toWellFormed());
    }
  });

  it('returns segments that are not valid percent-encoding unchanged', () => {
    expect(parseRoute('#/%E0%A4%A').path).to.deep.equal(['%E0%A4%A']);
    expect(parseRoute('').path).to.deep.equal([]);
  });
});
