import { expect } from 'chai';
import { takeTokenFromUrl } from '../../../../imports/ui/session/takeTokenFromUrl';

describe('takeTokenFromUrl', () => {
  it('returns the token once and removes it from the URL', () => {
    const urls: string[] = [];
    const page = (hash: string) =>
      ({
        location: { hash, pathname: '/', search: '' },
        history: { replaceState: (_state: unknown, _title: string, url: string) => urls.push(url) },
      }) as unknown as Window;
    expect(takeTokenFromUrl(page('#token=a%2Bb'))).to.equal('a+b');
    expect(urls).to.deep.equal(['/']);
    expect(takeTokenFromUrl(page('#/runs'))).to.equal(undefined);
    expect(urls).to.have.length(1);
  });
});
