/** Opens client/main.tsx in Chromium, compiled as Meteor compiles it. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { bundleMeteorClient } from '../support/meteorBuild/bundleMeteorClient';
import type { SwcConfiguration } from '../support/meteorBuild/compileWithSwc';
import { REPOSITORY } from '../support/meteorBuild/reachableFiles';
import { withBrowser } from '../support/withBrowser';

const swcrc = JSON.parse(readFileSync(path.join(REPOSITORY, '.swcrc'), 'utf8')) as SwcConfiguration;
const template = readFileSync(path.join(REPOSITORY, 'client/main.html'), 'utf8');

/** A secure context with storage, which the page's own requests never leave. */
const PAGE = 'http://localhost/';
const FONTS = path.join(REPOSITORY, 'node_modules/@fontsource-variable/inter/files');

interface Opened {
  readonly heading: string;
  readonly errors: readonly string[];
}

describe("Meteor's client", () => {
  let browser: Browser;
  withBrowser((opened) => {
    browser = opened;
  });

  /** Waits for a page that has rendered or failed. */
  async function open(configuration: SwcConfiguration): Promise<Opened> {
    const { script, styles } = await bundleMeteorClient(configuration);
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on('pageerror', ({ message }) => errors.push(message));
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) errors.push(message.text());
    });
    await page.route('**/*', (route) => {
      const { pathname } = new URL(route.request().url());
      const [, font] = /^\/bolide\/(.+\.woff2)$/.exec(pathname) ?? [];
      return font === undefined
        ? route.fulfill({ contentType: 'text/html', body: pathname === '/' ? template : '' })
        : route.fulfill({ contentType: 'font/woff2', path: path.join(FONTS, font) });
    });
    await page.goto(PAGE);
    await page.addStyleTag({ content: styles });
    // The connection stays as it is before the server responds: nobody is signed in.
    await page.addScriptTag({ content: 'window.openDdpSocket = () => ({ send() {}, close() {} });' });
    await page.addScriptTag({ content: script });
    const rendered = page.locator('#app h1').textContent({ timeout: 5_000 });
    const heading = await rendered.catch((error: unknown) => {
      if (errors.length === 0) throw error;
      return '';
    });
    await page.close();
    return { heading: heading ?? '', errors };
  }

  it('renders the sign-in page without errors in the console', async () => {
    expect(await open(swcrc)).to.deep.equal({ heading: 'Sign in to Bolide', errors: [] });
  });

  it('stays blank with the classic JSX transform, which .swcrc replaces', async () => {
    const { heading, errors } = await open({});
    expect(heading).to.equal('');
    expect(errors.join('\n')).to.include('React is not defined');
  });
});
