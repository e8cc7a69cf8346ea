/** Opens client/main.tsx in Chromium, compiled as Meteor compiles it. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { bundleClientClassically } from '../support/meteorBuild/buildClassically';
import type { SwcConfiguration } from '../support/meteorBuild/compileWithSwc';
import { REPOSITORY } from '../support/meteorBuild/repository';
import { until } from '../support/until';
import { withBrowser } from '../support/withBrowser';

const swcrc = JSON.parse(readFileSync(path.join(REPOSITORY, '.swcrc'), 'utf8')) as SwcConfiguration;
const template = readFileSync(path.join(REPOSITORY, 'client/main.html'), 'utf8');

/** A secure context with storage, which the page's own requests never leave. */
const ORIGIN = 'http://localhost';
const PUBLIC = path.join(REPOSITORY, 'public');
/** What the sign-in page needs of it. */
const FILES = ['favicon.svg', 'bolide/inter-latin-wght-normal.woff2'];

interface Opened {
  readonly heading: string;
  readonly errors: readonly string[];
  /** The paths of the public files that the page has fetched. */
  readonly fetched: ReadonlySet<string>;
}

describe("Meteor's client", () => {
  let browser: Browser;
  withBrowser((opened) => {
    browser = opened;
  });

  /**
   * Waits for a page that has rendered or failed.
   * @param prefix the path of ROOT_URL, under which Meteor serves everything
   */
  async function open(configuration: SwcConfiguration, prefix = ''): Promise<Opened> {
    const { script, styles } = await bundleClientClassically('client/main.tsx', configuration);
    // The connection stays as it is before the server responds: nobody is signed in.
    const setup = `window.__meteor_runtime_config__ = { ROOT_URL: '${ORIGIN}${prefix}' };
      window.openDdpSocket = () => ({ send() {}, close() {} });`;
    const html = template
      .replace('</head>', () => `<style>${styles}</style></head>`)
      .replace('</body>', `<script>${setup}</script><script src="${prefix}/app.js"></script></body>`);
    const page = await browser.newPage();
    const errors: string[] = [];
    const fetched = new Set<string>();
    page.on('pageerror', ({ message }) => errors.push(message));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) errors.push(message.text());
    });
    await page.route('**/*', (route) => {
      const { pathname } = new URL(route.request().url());
      if (pathname === `${prefix}/`) return route.fulfill({ contentType: 'text/html', body: html });
      if (pathname === `${prefix}/app.js`) return route.fulfill({ contentType: 'text/javascript', body: script });
      const file = path.join(PUBLIC, path.relative(`${prefix}/`, pathname));
      if (!pathname.startsWith(`${prefix}/`) || !existsSync(file)) return route.fulfill({ status: 404 });
      fetched.add(pathname);
      return route.fulfill({ path: file });
    });
    await page.goto(`${ORIGIN}${prefix}/`);
    const headings = page.locator('#app h1');
    await until(async () => errors.length > 0 || (await headings.count()) > 0);
    // After an error the page has some time to show that it renders all the same.
    const timeout = errors.length > 0 ? 5_000 : 60_000;
    const heading = await headings.textContent({ timeout }).catch((error: unknown) => {
      if (errors.length === 0) throw error;
      return '';
    });
    if (heading !== '') await until(() => FILES.every((name) => fetched.has(`${prefix}/${name}`)) || errors.length > 0);
    await page.close();
    return { heading: heading ?? '', errors, fetched };
  }

  for (const prefix of ['', '/ops'])
    it(`renders the sign-in page, with its icon and typeface, at ROOT_URL${prefix}/`, async () => {
      const { heading, errors, fetched } = await open(swcrc, prefix);
      expect(errors).to.deep.equal([]);
      expect(heading).to.equal('Sign in to Bolide');
      expect([...fetched]).to.include.members(FILES.map((name) => `${prefix}/${name}`));
    });

  it('stays blank with the classic JSX transform, which .swcrc replaces', async () => {
    const { heading, errors } = await open({});
    expect(heading).to.equal('');
    expect(errors.join('\n')).to.include('React is not defined');
  });
});
