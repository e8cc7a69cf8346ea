/** The dashboard's page and files over HTTP: their encodings and what may be cached of them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, brotliDecompressSync, gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { startServer } from '../../imports/host/node/startServer';
import type { RunningServer } from '../../imports/host/node/startServer';
import { inFlowingTime } from '../support/VirtualTime';

const TOKEN = 'a-token-for-the-dashboard-files';
const SCRIPT = 'console.log("A script.");\n'.repeat(20);
const STYLES = '.bolide { color: red }\n'.repeat(20);
const FONT = 'wOF2 is compressed.';

/** The files of a dashboard: one compressed, as in the package, the others plain, as in a checkout. */
const ASSETS: ReadonlyMap<string, Buffer> = new Map([
  ['dashboard-1.js.br', brotliCompressSync(SCRIPT)],
  ['signIn-2.css', Buffer.from(STYLES)],
  ['signedIn-3.css', Buffer.from(STYLES)],
  ['pages-4.js', Buffer.from(SCRIPT)],
  ['font-5.woff2', Buffer.from(FONT)],
  ['favicon.svg', Buffer.from('<svg/>')],
  [
    'manifest.json',
    Buffer.from(
      JSON.stringify({
        script: 'dashboard-1.js',
        signIn: ['signIn-2.css'],
        signedIn: ['signedIn-3.css', 'pages-4.js', 'font-5.woff2'],
      }),
    ),
  ],
]);

/** A file of each kind. */
const TEXTS: Readonly<Record<string, string>> = {
  '/dashboard/dashboard-1.js': SCRIPT,
  '/dashboard/signIn-2.css': STYLES,
};

/** [header `accept-encoding`, the encoding of the response] */
const NEGOTIATIONS: readonly (readonly [accepted: string | undefined, encoding: string | undefined])[] = [
  [undefined, undefined],
  ['', undefined],
  ['identity', undefined],
  ['deflate, zstd', undefined],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip, deflate', 'gzip'],
  ['GZIP', 'gzip'],
  ['*', 'br'],
  ['br;q=0.5, gzip', 'gzip'],
  ['br; q=0.8, gzip; q=0.7', 'br'],
  ['br;q=0, *', 'gzip'],
  ['br;q=0, gzip;q=0', undefined],
  ['gzip;q=0.5, identity', undefined],
  ['br;q=much, gzip', 'gzip'],
  // Nothing is acceptable; the file is still worth more than an error.
  ['identity;q=0', undefined],
];

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

describe(
  "The dashboard's files",
  inFlowingTime(() => {
    let server: RunningServer;
    let directory: string;
    before(async () => {
      directory = await mkdtemp(join(tmpdir(), 'bolide-files-'));
      server = await startServer({
        env: { PORT: '0', DATA_DIR: directory, BOLIDE_API_TOKEN: TOKEN },
        dashboard: () => Promise.resolve(ASSETS),
      });
    });
    after(async () => {
      await server.close();
      await rm(directory, { recursive: true });
    });

    /** Unlike `fetch`, it sends no header of its own and decodes nothing. */
    const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Promise<Answer> =>
      new Promise((resolve, reject) => {
        const sent = request(server.url + path, { method, headers }, (response) => {
          buffer(response).then(
            (body) => resolve({ status: response.statusCode, headers: response.headers, body }),
            reject,
          );
        });
        sent.on('error', reject);
        sent.end();
      });
    const decoded = ({ headers, body }: Answer): string => {
      switch (headers['content-encoding']) {
        case 'br':
          return brotliDecompressSync(body).toString();
        case 'gzip':
          return gunzipSync(body).toString();
        default:
          return body.toString();
      }
    };
    const signIn = async (): Promise<string> => {
      const response = await fetch(`${server.url}/api/session`, {
        method: 'POST',
        headers: { origin: server.url, 'content-type': 'application/json' },
        body: JSON.stringify({ token: TOKEN }),
      });
      return response.headers.get('set-cookie')?.split(';')[0] ?? '';
    };

    for (const [accepted, encoding] of NEGOTIATIONS)
      it(`are sent ${encoding ?? 'as they are'} for ${accepted === undefined ? 'no header' : `"${accepted}"`}`, async () => {
        for (const [path, text] of Object.entries(TEXTS)) {
          const answer = await get(path, accepted === undefined ? {} : { 'accept-encoding': accepted });
          expect(answer.status).to.equal(200);
          expect(answer.headers['content-encoding']).to.equal(encoding);
          expect(answer.headers['content-length']).to.equal(String(answer.body.byteLength));
          expect(decoded(answer)).to.equal(text);
        }
      });

    it('are kept for ever, one copy per encoding', async () => {
      for (const path of Object.keys(TEXTS)) {
        const { headers } = await get(path, { 'accept-encoding': 'br' });
        expect(headers['cache-control']).to.equal('public, max-age=31536000, immutable');
        expect(headers.vary).to.equal('accept-encoding');
        expect(headers['x-content-type-options']).to.equal('nosniff');
        expect(headers['cross-origin-resource-policy']).to.equal('same-origin');
        const tags = await Promise.all(
          ['br', 'gzip', 'identity'].map(async (each) => (await get(path, { 'accept-encoding': each })).headers.etag),
        );
        expect(new Set(tags).size).to.equal(3);
        for (const tag of tags) expect(tag).to.match(/^"[\w-]{43}"$/);
      }
    });

    it('are not sent again in the encoding that a client has', async () => {
      const path = '/dashboard/dashboard-1.js';
      const { headers } = await get(path, { 'accept-encoding': 'br' });
      const { etag = '' } = headers;
      const unchanged = await get(path, { 'accept-encoding': 'br', 'if-none-match': etag });
      expect(unchanged).to.include({ status: 304 });
      expect(unchanged.body.byteLength).to.equal(0);
      expect(unchanged.headers).to.include({
        etag,
        vary: 'accept-encoding',
        'cache-control': headers['cache-control'],
      });
      expect(await get(path, { 'accept-encoding': 'gzip', 'if-none-match': etag })).to.include({ status: 200 });
    });

    it('have the same headers for HEAD, and no ranges', async () => {
      const path = '/dashboard/dashboard-1.js';
      const whole = await get(path, { 'accept-encoding': 'br' });
      const head = await get(path, { 'accept-encoding': 'br' }, 'HEAD');
      expect(head.body.byteLength).to.equal(0);
      for (const name of ['content-length', 'content-encoding', 'content-type', 'etag', 'vary', 'cache-control'])
        expect(head.headers[name], name).to.equal(whole.headers[name]);
      const part = await get(path, { 'accept-encoding': 'br', range: 'bytes=0-3' });
      expect(part).to.include({ status: 200 });
      expect(decoded(part)).to.equal(SCRIPT);
      expect(part.headers).not.to.have.any.keys('accept-ranges', 'content-range');
    });

    it('are not compressed twice', async () => {
      const font = await get('/dashboard/font-5.woff2', { 'accept-encoding': 'gzip, br' });
      expect(font.body.toString()).to.equal(FONT);
      expect(font.headers)
        .to.include({ 'content-type': 'font/woff2' })
        .and.not.have.any.keys('content-encoding', 'vary');
    });

    it('are found by their own names only', async () => {
      for (const name of ['manifest.json', 'dashboard-1.js.br', 'dashboard-2.js'])
        expect(await get(`/dashboard/${name}`), name).to.include({ status: 404 });
    });

    it('are kept for a day if their name stays', async () => {
      const { headers } = await get('/favicon.svg', { 'accept-encoding': 'br' });
      expect(headers).to.include({ 'cache-control': 'public, max-age=86400', 'content-type': 'image/svg+xml' });
    });

    it('are loaded before sign-in as far as the page needs them', async () => {
      const answer = await get('/', { 'accept-encoding': 'br' });
      expect(answer.headers).to.include({
        'cache-control': 'no-cache',
        'content-encoding': 'br',
        vary: 'accept-encoding',
      });
      expect(answer.headers['content-security-policy']).to.include("script-src 'self'").and.not.include('unsafe');
      const html = decoded(answer);
      expect(html).to.include('<script type="module" src="/dashboard/dashboard-1.js"></script>');
      expect(html).to.include('<link rel="stylesheet" href="/dashboard/signIn-2.css">');
      expect(html).to.include('<link rel="stylesheet" href="/dashboard/signedIn-3.css" disabled data-deferred>');
      expect(html).not.to.match(/pages-4|font-5|data-session/);
      const etag = answer.headers.etag ?? '';
      expect(await get('/', { 'accept-encoding': 'br', 'if-none-match': etag })).to.include({ status: 304 });
    });

    it('are loaded at once by a browser that has a session', async () => {
      const cookie = await signIn();
      const { headers } = await get('/', { 'accept-encoding': 'br' });
      const answer = await get('/', { 'accept-encoding': 'br', 'if-none-match': headers.etag ?? '', cookie });
      expect(answer).to.include({ status: 200 });
      const html = decoded(answer);
      expect(html).to.include('<link rel="stylesheet" href="/dashboard/signedIn-3.css">');
      expect(html).to.include('<link rel="modulepreload" href="/dashboard/pages-4.js">');
      expect(html).to.include(
        '<link rel="preload" href="/dashboard/font-5.woff2" as="font" type="font/woff2" crossorigin>',
      );
      expect(html).to.include('<div id="app" data-session ');
    });
  }),
);
