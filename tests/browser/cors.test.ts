/** A page of another origin in Chromium calls the gateway with OpenAI's SDK, streamed or not. */
import { expect } from 'chai';
import { build } from 'esbuild';
import type { Browser } from 'playwright-core';
import type { RunningServer } from '../../imports/host/node/startServer';
import { startStandalone } from '../support/startStandalone';
import { TestHost } from '../support/TestHost';
import { withBrowser } from '../support/withBrowser';

const TOKEN = 'the-token-of-the-operator';

/** What the page's script calls and returns. */
interface PageResult {
  readonly text?: string;
  readonly streamed?: string;
  readonly requestId?: string | null;
  readonly error?: string;
  readonly status?: number;
}

const SCRIPT = `
  import OpenAI from 'openai';
  window.ask = async (baseURL, apiKey) => {
    const client = new OpenAI({ baseURL, apiKey, dangerouslyAllowBrowser: true, maxRetries: 0 });
    const request = { model: 'openai', messages: [{ role: 'user', content: 'Say cobalt.' }] };
    try {
      const { data, response } = await client.chat.completions.create(request).withResponse();
      let streamed = '';
      for await (const chunk of await client.chat.completions.create({ ...request, stream: true }))
        streamed += chunk.choices[0]?.delta.content ?? '';
      return { text: data.choices[0].message.content, streamed, requestId: response.headers.get('x-request-id') };
    } catch (error) {
      return { error: error.message, status: error.status };
    }
  };
`;

describe('a page of another origin in Chromium', () => {
  let browser: Browser;
  let script = '';
  let pages: TestHost;
  let server: RunningServer;
  withBrowser(async (opened) => {
    browser = opened;
    const { outputFiles } = await build({
      stdin: { contents: SCRIPT, resolveDir: __dirname },
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'browser',
      logLevel: 'error',
    });
    script = outputFiles[0]?.text ?? '';
    pages = await TestHost.start((response, { path }) => {
      const isScript = path === '/page.js';
      response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
      response.end(isScript ? script : '<!doctype html><script type="module" src="/page.js"></script>');
    });
    server = await startStandalone({ CORS_ORIGINS: pages.url, BOLIDE_API_TOKEN: TOKEN });
  });
  after(async () => {
    await (server as RunningServer | undefined)?.close();
    await (pages as TestHost | undefined)?.stop();
  });

  /** @param origin where the page is loaded from */
  async function ask(origin: string, token: string): Promise<PageResult> {
    const page = await browser.newPage();
    try {
      await page.goto(origin);
      await page.waitForFunction('window.ask !== undefined');
      return await page.evaluate<PageResult>(
        `window.ask(${JSON.stringify(`${server.url}/v1`)}, ${JSON.stringify(token)})`,
      );
    } finally {
      await page.close();
    }
  }

  it('gets answers and streams, and reads our headers, if it is listed', async () => {
    const { text, streamed, requestId } = await ask(pages.url, TOKEN);
    expect(text).to.be.a('string').that.is.not.empty;
    expect(streamed).to.equal(text);
    expect(requestId).to.match(/^req_/);
  });

  it('reads the error of a wrong token', async () => {
    const { error, status } = await ask(pages.url, 'wrong');
    expect(status).to.equal(401);
    expect(error).to.include('valid API token');
  });

  it('gets nothing under an origin that is not listed', async () => {
    const { error, status, text } = await ask(pages.url.replace('127.0.0.1', 'localhost'), TOKEN);
    expect({ error, status, text }).to.deep.equal({ error: 'Connection error.', status: undefined, text: undefined });
  });
});
