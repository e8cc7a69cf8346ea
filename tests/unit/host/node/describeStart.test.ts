import { expect } from 'chai';
import { describeExposure, describeStart } from '../../../../imports/host/node/describeStart';
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

  it('prints no token that was set, in terminals either', () => {
    const text = describeStart(RUNNING, { isTerminal: true, isTokenSet: true }).join('\n');
    expect(text).to.include('BOLIDE_API_TOKEN');
    expect(text).to.not.include(RUNNING.token);
    expect(text).to.not.include(encodeURIComponent(RUNNING.token));
  });

  it('names the OpenID provider where tokens do not sign in, and links to nothing that fails', () => {
    const running = { ...RUNNING, signInWith: 'Acme' };
    const text = describeStart(running, { isTerminal: true, isTokenSet: false }).join('\n');
    expect(text).to.include('sign in with Acme').and.include(RUNNING.token).and.not.include('#token=');
    expect(describeStart(running, { isTerminal: false, isTokenSet: false }).join()).not.to.include(RUNNING.token);
    expect(describeStart(running, { isTerminal: true, isTokenSet: true }).join()).not.to.include(RUNNING.token);
  });
});

describe('describeExposure', () => {
  it('warns of a server that other machines reach without TLS', () => {
    for (const host of ['0.0.0.0', '::', '192.168.1.5', 'example.com'])
      for (const rootUrl of [undefined, 'http://bolide.example.com'])
        expect(describeExposure({ host, rootUrl }), host)
          .to.be.a('string')
          .that.includes(host)
          .and.includes('ROOT_URL');
  });

  it('is silent on this machine, and behind a proxy with TLS', () => {
    for (const host of ['127.0.0.1', '127.0.0.53', '::1', 'localhost'])
      expect(describeExposure({ host, rootUrl: undefined }), host).to.equal(undefined);
    expect(describeExposure({ host: '0.0.0.0', rootUrl: 'https://bolide.example.com' })).to.equal(undefined);
  });
});
