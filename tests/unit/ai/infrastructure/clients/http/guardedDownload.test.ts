import { expect } from 'chai';
import {
  LLMConnectionError,
  LLMInvalidRequestError,
  LLMStreamError,
  LLMTimeoutError,
} from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import { DEFAULT_TRANSPORT_LIMITS as limits } from '../../../../../../imports/business/ai/domain/types/VendorTypes';
import { guardedDownload } from '../../../../../../imports/business/ai/infrastructure/clients/http/guardedDownload';
import type { DownloadOptions } from '../../../../../../imports/business/ai/infrastructure/clients/http/guardedDownload';
import { createGuardedFetch } from '../../../../../../imports/business/ai/infrastructure/clients/http/guardedFetch';
import type { GuardedFetch } from '../../../../../../imports/business/ai/infrastructure/clients/http/guardedFetch';
import { failure } from '../../../../../support/failure';
import { gone, TestHost } from '../../../../../support/TestHost';
import type { Answer } from '../../../../../support/TestHost';
import { itInVirtualTime } from '../../../../../support/itInVirtualTime';

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

const image: Answer = (response) => response.writeHead(200, { 'content-type': 'Image/PNG; charset=x' }).end(PNG);
const redirect =
  (location: string, status = 302): Answer =>
  (response) =>
    response.writeHead(status, { location }).end();

describe('guardedDownload', () => {
  let server: TestHost;

  beforeEach(async () => {
    server = await TestHost.start(image);
  });
  afterEach(() => server.stop());

  const download = (url = server.url, options: Partial<DownloadOptions> = {}): ReturnType<typeof guardedDownload> =>
    guardedDownload(url, {
      maxBytes: 1_000,
      timeout: 5_000,
      contentTypes: ['image/*', 'application/pdf'],
      allowPrivateHosts: true,
      ...options,
    });

  it('returns bytes and media type, sends no credentials, and leaves no socket open', async () => {
    expect(await download()).to.deep.equal({ bytes: PNG, contentType: 'image/png' });
    expect(server.requests[0]?.headers).to.have.keys(['accept', 'host', 'connection']);
    expect(server.requests[0]?.headers.accept).to.equal('image/*, application/pdf');
    await Promise.all([...server.sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))));
  });

  it('rejects private hosts unless they are allowed', async () => {
    expect(
      await failure(download(server.url.replace('http:', 'https:'), { allowPrivateHosts: false })),
    ).to.be.instanceOf(LLMInvalidRequestError);
    expect(await failure(download(server.url, { allowPrivateHosts: false }))).to.be.instanceOf(LLMInvalidRequestError);
    expect(server.connections).to.equal(0);
  });

  it('accepts only the given media types', async () => {
    for (const type of ['text/html', 'application/octet-stream', 'imagex/png', 'application/pdfx', '']) {
      server.answer = (response) => response.writeHead(200, type === '' ? {} : { 'content-type': type }).end('x');
      expect(await failure(download()), type).to.be.instanceOf(LLMInvalidRequestError);
    }
    server.answer = (response) => response.writeHead(200, { 'content-type': 'application/pdf' }).end('x');
    expect((await download()).contentType).to.equal('application/pdf');
  });

  it('rejects a download that is too large and ends the request', async () => {
    let left: Promise<unknown> | undefined;
    server.answer = (response) => {
      left = gone(response);
      response.writeHead(200, { 'content-type': 'image/png' });
      response.write(Buffer.alloc(1_001));
    };
    expect(await failure(download())).to.be.instanceOf(LLMStreamError);
    await left;
  });

  it('rejects a truncated download', async () => {
    server.answer = (response) => {
      response.writeHead(200, { 'content-type': 'image/png', 'content-length': '100' });
      response.write(PNG, () => response.socket?.end());
    };
    expect(await failure(download())).to.be.instanceOf(LLMStreamError);
  });

  itInVirtualTime('rejects a slow download', async () => {
    server.answer = (response) => {
      response.writeHead(200, { 'content-type': 'image/png' });
      const drip = (): void => {
        if (!response.destroyed) response.write('.', () => setImmediate(drip));
      };
      drip();
    };
    expect(await failure(download(server.url, { timeout: 50 }))).to.be.instanceOf(LLMTimeoutError);
  });

  itInVirtualTime('applies its time limit to all redirects together', async (time) => {
    server.answer = (response, request) => {
      void time.after(15).then(() => redirect(`${request.path}x`)(response, request));
    };
    expect(await failure(download(server.url, { timeout: 40 }))).to.be.instanceOf(LLMTimeoutError);
    expect(server.requests.length).to.be.at.most(4);
  });

  it('aborts with its caller', async () => {
    const controller = new AbortController();
    const left = new Promise((resolve) => {
      server.answer = (response) => {
        void gone(response).then(resolve);
        controller.abort('enough');
      };
    });
    expect(await failure(download(server.url, { signal: controller.signal }))).to.equal('enough');
    await left;
  });

  it('distinguishes invalid responses from temporary failures', async () => {
    for (const [status, kind] of [
      [404, LLMInvalidRequestError],
      [403, LLMInvalidRequestError],
      [206, LLMInvalidRequestError],
      [429, LLMConnectionError],
      [503, LLMConnectionError],
    ] as const) {
      server.answer = (response) => response.writeHead(status, { 'content-type': 'image/png' }).end(PNG);
      const error = await failure(download());
      expect(error, String(status)).to.be.instanceOf(kind).and.include({ status });
    }
  });

  describe('redirects', () => {
    it('follows up to five redirects of every kind, including relative ones', async () => {
      const statuses = [301, 302, 303, 307, 308];
      server.answer = (response, request) => {
        const hop = Number(request.path.slice(1));
        const status = statuses[hop];
        if (status === undefined) image(response, request);
        else redirect(hop % 2 === 0 ? `/${hop + 1}` : `${server.url}/${hop + 1}`, status)(response, request);
      };
      expect((await download(`${server.url}/0`)).bytes).to.deep.equal(PNG);
      expect(server.requests.map(({ path }) => path)).to.deep.equal(['/0', '/1', '/2', '/3', '/4', '/5']);
    });

    it('rejects a sixth redirect', async () => {
      server.answer = (response, request) => redirect(`${request.path}x`)(response, request);
      expect(await failure(download())).to.be.instanceOf(LLMInvalidRequestError);
      expect(server.requests).to.have.length(6);
    });

    it('rejects a redirect to anything but http and https', async () => {
      for (const location of [
        'file:///etc/passwd',
        'ftp://a.example/',
        'data:image/png,x',
        'http://user:pass@a.example/',
        'http://[',
      ]) {
        server.answer = redirect(location);
        expect(await failure(download()), location).to.be.instanceOf(LLMInvalidRequestError);
      }
    });

    it('checks each redirect like the first URL', async () => {
      const open = createGuardedFetch({ limits, allowPrivateHosts: true });
      const guarded = createGuardedFetch({ limits, allowPrivateHosts: false });
      const asked: string[] = [];
      /** The test server stands in for a public host in the first hop; the real guard checks all others. */
      const fetch: GuardedFetch = Object.assign(
        (url: string | URL, init?: Parameters<GuardedFetch>[1]) => {
          asked.push(String(url));
          return asked.length === 1 ? open(server.url, init) : guarded(url, init);
        },
        { close: () => undefined },
      );
      for (const location of [
        `${server.url}/`,
        `${server.url.replace('http:', 'https:')}/`,
        'https://169.254.169.254/latest/meta-data/',
        'https://[::ffff:127.0.0.1]/',
        'https://2130706433/',
        'http://images.example.com/',
        'https://localhost/',
      ]) {
        asked.length = 0;
        server.answer = redirect(location);
        server.requests.length = 0;
        expect(await failure(download('https://images.example.com/a.png', { fetch })), location).to.be.instanceOf(
          LLMInvalidRequestError,
        );
        expect(asked).to.deep.equal(['https://images.example.com/a.png', new URL(location).href]);
        expect(server.requests).to.have.length(1);
      }
      // The same redirect is followed when the guard is off.
      server.answer = (response, request) =>
        request.path === '/' ? redirect('/b.png')(response, request) : image(response, request);
      expect((await download(server.url, { fetch: open })).bytes).to.deep.equal(PNG);
      open.close();
      guarded.close();
    });
  });
});
