import { expect } from 'chai';
import { describeStart } from '../../../../imports/startup/node/describeStart';
import { takeTokenFromUrl } from '../../../../imports/ui/session/takeTokenFromUrl';

const RUNNING = { url: 'http://127.0.0.1:3000', token: 'a token&with=/# signs' };

describe('describeStart', () => {
  it('prints a link in a terminal that signs in with the token', () => {
    const lines = describeStart(RUNNING, { isTerminal: true, isTokenSet: false });
    const link = /http:\S+#\S+/.exec(lines.join('\n'))?.[0] ?? '';
    const { pathname, search, hash } = new URL(link);
    const replaced: string[] = [];
    const page = {
      location: { pathname, search, hash },
      history: { replaceState: (_state: unknown, _title: string, url: string) => replaced.push(url) },
    };
    expect(takeTokenFromUrl(page as unknown as Window)).to.equal(RUNNING.token);
    expect(replaced.join()).to.not.include('token');
  });

  for (const isTokenSet of [true, false])
    it(`prints no token where output is collected (the token is ${isTokenSet ? 'set' : 'generated'})`, () => {
      const text = describeStart(RUNNING, { isTerminal: false, isTokenSet }).join('\n');
      expect(text).to.include('Bolide is ready at http://127.0.0.1:3000');
      expect(text).to.include('BOLIDE_API_TOKEN');
      expect(text).to.not.include(RUNNING.token);
      expect(text).to.not.include(encodeURIComponent(RUNNING.token));
    });
});
