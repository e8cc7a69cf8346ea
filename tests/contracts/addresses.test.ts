/** Where the server has its API and the dashboard its pages. */
import { expect } from 'chai';
import { PAGE_PATHS } from '../../imports/api/dashboard/dashboardPages';
import type { RunningServer } from '../../imports/host/node/startServer';
import { PAGES } from '../../imports/ui/pages';
import { startStandalone } from '../support/startStandalone';

const TOKEN = 'the-token-of-the-address-tests';
const NAVIGATION = { 'sec-fetch-dest': 'document', accept: 'text/html,*/*;q=0.8' };

describe('the addresses of a server', () => {
  let server: RunningServer;
  before(async () => {
    server = await startStandalone({ BOLIDE_API_TOKEN: TOKEN });
  });
  after(async () => {
    await server.close();
  });

  const request = (method: string, path: string, body?: object) =>
    fetch(server.url + path, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  it('of all pages and of their entries are those of the dashboard', async () => {
    const paths = PAGES.map(({ path }) => `/${path}`);
    expect(paths.filter((path) => path !== '/' && !PAGE_PATHS.test(path))).to.deep.equal([]);
    for (const path of [...paths, '/runs/some-run', '/runs/one/diff/other?x=1']) {
      const page = await fetch(server.url + path, { headers: NAVIGATION });
      expect([page.status, page.headers.get('content-type')], path).to.deep.equal([200, 'text/html; charset=utf-8']);
      expect(page.headers.get('content-security-policy'), path).to.include("default-src 'none'");
    }
  });

  it('of no page answer a browser with 404, and a program in the form of the API', async () => {
    expect((await fetch(`${server.url}/nowhere`, { headers: NAVIGATION })).status).to.equal(404);
    const response = await request('GET', '/playground');
    expect(response.status).to.equal(404);
    expect(await response.json()).to.have.nested.property('error.code');
  });

  it('of before the API was below /api answer as the new ones, and name them', async () => {
    for (const [method, path, body] of [
      ['GET', '/runs?limit=2', undefined],
      ['GET', '/me', undefined],
      ['POST', '/memories', { text: 'Likes tea.', key: 'tea' }],
      ['DELETE', '/memories', undefined],
      ['GET', '/runs/no-such-run', undefined],
    ] as const) {
      const [old, current] = [await request(method, path, body), await request(method, `/api${path}`, body)];
      const link = `</api${path.replace(/\?.*/, '')}>; rel="successor-version"`;
      expect([old.status, old.headers.get('link')], path).to.deep.equal([current.status, link]);
      expect(old.headers.get('deprecation'), path).to.match(/^@\d+$/);
      expect(current.headers.has('deprecation')).to.equal(false);
      expect(Object.keys((await old.json()) as object)).to.deep.equal(Object.keys((await current.json()) as object));
    }
  });
});
