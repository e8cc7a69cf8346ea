import { expect } from 'chai';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { getEventListeners, once } from 'node:events';
import { createServer, Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { spy, stub } from 'sinon';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import {
  LLMConnectionError,
  LLMInvalidRequestError,
  LLMStreamError,
  LLMTimeoutError,
} from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import { DEFAULT_TRANSPORT_LIMITS } from '../../../../../../imports/business/ai/domain/types/VendorTypes';
import type { TransportLimits } from '../../../../../../imports/business/ai/domain/types/VendorTypes';
import { createGuardedFetch } from '../../../../../../imports/business/ai/infrastructure/clients/http/guardedFetch';
import type {
  GuardedFetch,
  GuardedFetchOptions,
} from '../../../../../../imports/business/ai/infrastructure/clients/http/guardedFetch';
import { gone, json, TestHost } from '../../../../../support/TestHost';
import { deferred } from '../../../../../support/deferred';
import { failure } from '../../../../../support/failure';
import { itInVirtualTime } from '../../../../../support/itInVirtualTime';
import { until } from '../../../../../support/until';
import { nextTurn } from '../../../../../support/nextTurn';

describe('guardedFetch', () => {
  let server: TestHost;
  const fetches: GuardedFetch[] = [];

  function guarded(limits: Partial<TransportLimits> = {}, options: Partial<GuardedFetchOptions> = {}): GuardedFetch {
    const fetch = createGuardedFetch({
      allowPrivateHosts: true,
      ...options,
      limits: { ...DEFAULT_TRANSPORT_LIMITS, ...limits },
    });
    fetches.push(fetch);
    return fetch;
  }

  beforeEach(async () => {
    server = await TestHost.start();
  });
  afterEach(async () => {
    fetches.splice(0).forEach((fetch) => fetch.close());
    await server.stop();
  });

  describe('responses', () => {
    it('have a status, case-insensitive headers, and a body as text or JSON', async () => {
      server.answer = json({ a: 'ä' }, 203, { 'X-Request-Id': 'req_1', 'set-cookie': 'a=1' });
      const response = await guarded()(`${server.url}/path?q=1`, {
        method: 'POST',
        headers: { 'x-one': '1' },
        body: 'grüß',
      });
      expect([
        response.status,
        response.ok,
        response.headers.get('X-REQUEST-ID'),
        response.requestId,
        response.header('x-none'),
      ]).to.deep.equal([203, true, 'req_1', 'req_1', null]);
      expect([...response.headers.entries()]).to.deep.include(['set-cookie', 'a=1']);
      expect(await response.json()).to.deep.equal({ a: 'ä' });
      expect(await response.text()).to.equal('{"a":"ä"}');
      expect(server.requests[0]).to.include({ method: 'POST', path: '/path?q=1', body: 'grüß' });
      expect(server.requests[0]?.headers).to.include({ 'x-one': '1', 'content-length': '6' });
    });

    it('come to a long request, too, which arrives as it was given', async () => {
      server.answer = json({});
      // Where it is divided, there is a surrogate pair.
      const body = `a${'😀'.repeat(2_200_000)}ü`;
      await (await guarded()(server.url, { method: 'POST', body })).text();
      expect(server.requests[0]?.body === body, 'the body is the same').to.equal(true);
      expect(server.requests[0]?.headers['content-length']).to.equal(`${Buffer.byteLength(body)}`);
      expect(server.requests[0]?.headers['transfer-encoding']).to.equal(undefined);
    });

    it('drop the byte order mark', async () => {
      server.answer = (response) => response.end('\ufeffx');
      expect(await (await guarded()(server.url)).text()).to.equal('x');
    });

    it('resolves whatever the status is, and follows no redirect', async () => {
      server.answer = (response) => response.writeHead(302, { location: '/elsewhere' }).end('moved');
      const response = await guarded()(server.url);
      expect([response.status, response.ok, await response.text(), server.requests.length]).to.deep.equal([
        302,
        false,
        'moved',
        1,
      ]);
    });

    for (const [encoding, encode] of [
      ['gzip', gzipSync],
      ['x-gzip', gzipSync],
      ['deflate', deflateSync],
      ['br', brotliCompressSync],
    ] as const) {
      it(`decoded from ${encoding}`, async () => {
        server.answer = (response) => response.writeHead(200, { 'content-encoding': encoding }).end(encode('complete'));
        expect(await (await guarded()(server.url)).text()).to.equal('complete');
      });
    }

    it('rejects an unknown content encoding', async () => {
      server.answer = (response) => response.writeHead(200, { 'content-encoding': 'constructor' }).end('x');
      expect(await failure((await guarded()(server.url)).text())).to.be.instanceOf(LLMStreamError);
    });
  });

  describe('connections', () => {
    it('reuses one socket for 50 sequential calls', async () => {
      const fetch = guarded();
      for (let call = 0; call < 50; call++) await (await fetch(server.url)).text();
      expect([server.requests.length, server.connections]).to.deep.equal([50, 1]);
    });

    it('opens no more sockets than allowed', async () => {
      const fetch = guarded({ maxSockets: 3 });
      await Promise.all(Array.from({ length: 20 }, async () => (await fetch(server.url)).text()));
      expect([server.requests.length, server.connections]).to.deep.equal([20, 3]);
    });

    it('gives a user without a socket the next one, before the many requests of another', async () => {
      const fetch = guarded({ maxSockets: 2 });
      const gate = deferred();
      const host = await TestHost.start((response, { path }) => void gate.promise.then(() => response.end(path)));
      const order: string[] = [];
      const ask = async (userId: string): Promise<void> => {
        await (await fetch(`${host.url}/${userId}`, { call: { userId } })).text();
      };
      const all = [...Array.from({ length: 22 }, () => ask('ann')), ask('bob')];
      gate.resolve();
      await Promise.all(all);
      order.push(...host.requests.map(({ path }) => path));
      expect(order.indexOf('/bob')).to.equal(2);
      expect([host.requests.length, host.connections]).to.deep.equal([23, 2]);
      await host.stop();
    });

    it('waits for a socket no longer than for a response, or than its caller does', async () => {
      const fetch = guarded({ maxSockets: 1 });
      const gate = deferred();
      const host = await TestHost.start((response) => void gate.promise.then(() => response.end('late')));
      const first = fetch(host.url);
      const leave = new AbortController();
      const left = fetch(host.url, { call: { signal: leave.signal } });
      leave.abort(new Error('gone'));
      expect(await failure(left)).to.have.property('message', 'gone');
      expect(await failure(fetch(host.url, { call: { timeout: 20 } }))).to.include({ code: 'timeout' });
      gate.resolve();
      await (await first).text();
      await (await fetch(host.url)).text();
      expect(host.requests).to.have.length(2);
      // One that was never sent gives its socket back.
      expect(await failure(fetch(host.url, { headers: { x: '\n' } }))).to.be.instanceOf(TypeError);
      await (await fetch(host.url)).text();
      await host.stop();
    });

    it('reuses the socket when a reader leaves after the complete response, even if the call is aborted right then', async () => {
      const fetch = guarded();
      const controller = new AbortController();
      const response = await fetch(server.url, { call: { signal: controller.signal } });
      for await (const chunk of response.body) {
        expect(chunk.byteLength).to.be.above(0);
        break;
      }
      controller.abort();
      await (await fetch(server.url)).text();
      expect(server.connections).to.equal(1);
    });

    it('lets the process exit while sockets are idle', async () => {
      // Only what keeps the process running is counted: both ends of a connection in use, the server's of an idle one.
      const sockets = (): number => process.getActiveResourcesInfo().filter((each) => each === 'TCPSocketWrap').length;
      const before = sockets();
      let inUse = 0;
      server.answer = (response) => {
        inUse = sockets() - before;
        response.end('answer');
      };
      await (await guarded()(server.url)).text();
      expect([...server.sockets].filter(({ destroyed }) => !destroyed)).to.have.length(1);
      expect([inUse, sockets() - before]).to.deep.equal([2, 1]);
    });

    it('closes an idle socket before the server does', async () => {
      // The server itself would wait longer.
      server.answer = json({}, 200, { 'keep-alive': 'timeout=2' });
      const limits = spy(Socket.prototype, 'setTimeout');
      try {
        await (await guarded()(server.url)).text();
        const shorter = (): Socket | undefined =>
          limits.getCalls().find(({ args: [limit] }) => limit > 0 && limit < 2_000)?.thisValue as Socket | undefined;
        await until(() => shorter() !== undefined);
        const ended = once([...server.sockets][0]!, 'end');
        shorter()!.emit('timeout');
        await ended;
      } finally {
        limits.restore();
      }
    });

    it('does not take a request for idle that waits longer than an idle socket is kept', async () => {
      const sockets = new Set<Socket>();
      const limits = stub(Socket.prototype, 'setTimeout').callsFake(function (this: Socket, limit) {
        if (limit === 20) sockets.add(this);
        return this;
      });
      const idle = (): void => sockets.forEach((socket) => void socket.emit('timeout'));
      try {
        server.answer = (response) => {
          idle();
          response.write('slow, ');
          setImmediate(() => {
            idle();
            response.end('but there');
          });
        };
        expect(await (await guarded({}, { idleTimeout: 20 })(server.url)).text()).to.equal('slow, but there');
        expect(sockets.size).to.equal(1);
      } finally {
        limits.restore();
      }
    });

    it('reports an idle socket that the server had closed', async () => {
      const fetch = guarded();
      await (await fetch(server.url)).text();
      server.answer = (response) => response.socket?.resetAndDestroy();
      const error = await failure(fetch(server.url));
      expect(error).to.be.instanceOf(LLMConnectionError).and.include({ retryable: true });
      expect([server.connections, server.requests.length]).to.deep.equal([1, 2]);
    });
  });

  describe('aborting a call', () => {
    it('aborts before sending', async () => {
      expect(await failure(guarded()(server.url, { call: { signal: AbortSignal.abort('why') } }))).to.equal('why');
      expect(server.connections).to.equal(0);
    });

    it('aborts before the headers, and the server notices', async () => {
      const controller = new AbortController();
      const reason = new Error('enough');
      const left = new Promise((resolve) => {
        server.answer = (response) => {
          void gone(response).then(resolve);
          controller.abort(reason);
        };
      });
      expect(await failure(guarded()(server.url, { call: { signal: controller.signal } }))).to.equal(reason);
      await left;
    });

    it('aborts in the body and drops buffered data, and the server notices', async () => {
      const controller = new AbortController();
      let left: Promise<unknown> | undefined;
      server.answer = (response) => {
        left = gone(response);
        response.write('begin');
      };
      const { body } = await guarded()(server.url, { call: { signal: controller.signal } });
      expect(Buffer.from((await body.next()).value ?? []).toString()).to.equal('begin');
      const next = body.next();
      controller.abort('enough');
      expect(await failure(next)).to.equal('enough');
      expect(await failure(body.next())).to.equal('enough');
      await left;
    });

    it('leaves no listener, timer or request behind', async () => {
      const fetch = guarded();
      const controller = new AbortController();
      const timers = (): number => process.getActiveResourcesInfo().filter((each) => each === 'Timeout').length;
      await (await fetch(server.url)).text();
      const before = timers();
      for (let call = 0; call < 20; call++)
        await (await fetch(server.url, { call: { signal: controller.signal } })).text();
      server.answer = (response) => response.destroy();
      for (let call = 0; call < 5; call++) await failure(fetch(server.url, { call: { signal: controller.signal } }));
      await nextTurn();
      expect(getEventListeners(controller.signal, 'abort')).to.have.length(0);
      expect(timers()).to.be.at.most(before);
    });
  });

  describe('leaving a body early', () => {
    it('ends the request in the same tick', async () => {
      let left: Promise<unknown> | undefined;
      server.answer = (response) => {
        left = gone(response);
        response.write('data');
      };
      const sockets: Socket[] = [];
      const onSocket = (message: unknown): void => void sockets.push((message as { socket: Socket }).socket);
      subscribe('net.client.socket', onSocket);
      const { body } = await guarded()(server.url);
      unsubscribe('net.client.socket', onSocket);
      await body.next();
      expect(sockets.map((each) => each.destroyed)).to.deep.equal([false]);
      void body.return();
      expect(sockets.map((each) => each.destroyed)).to.deep.equal([true]);
      await left;
      expect(await body.next()).to.deep.equal({ value: undefined, done: true });
    });

    it('ends a pending read', async () => {
      server.answer = (response) => response.write('data');
      const { body } = await guarded()(server.url);
      await body.next();
      const pending = body.next();
      await body.return();
      expect(await pending).to.deep.equal({ value: undefined, done: true });
    });

    it('ends the request when the reader breaks out of a loop', async () => {
      let left: Promise<unknown> | undefined;
      server.answer = (response) => {
        left = gone(response);
        response.write('data');
      };
      for await (const chunk of (await guarded()(server.url)).body) {
        expect(chunk.byteLength).to.equal(4);
        break;
      }
      await left;
    });
  });

  describe('truncated bodies', () => {
    const faults: Readonly<Record<string, (response: Parameters<TestHost['answer']>[0]) => void>> = {
      'shorter than its content-length': (response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('half', () => response.socket?.end());
      },
      'chunked without its last chunk': (response) => {
        response.writeHead(200, { 'transfer-encoding': 'chunked' });
        response.write('half', () => response.socket?.end());
      },
      'reset in the middle': (response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('half', () => response.socket?.resetAndDestroy());
      },
      'with a broken chunk size': (response) => {
        response.socket?.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n');
      },
      'truncated gzip': (response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('half of it').subarray(0, -9));
      },
      'invalid gzip': (response) => {
        response.writeHead(200, { 'content-encoding': 'gzip' }).end('half of it');
      },
    };
    for (const [name, fault] of Object.entries(faults)) {
      it(name, async () => {
        server.answer = fault;
        const error = await failure((await guarded()(server.url, { call: { vendor: 'groq' } })).text());
        expect(error).to.be.instanceOf(LLMStreamError).and.include({ vendor: 'groq', retryable: true });
      });
    }

    it('throws after delivering the received data', async () => {
      server.answer = (response) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('half', () => response.socket?.end());
      };
      const { body } = await guarded()(server.url);
      expect(Buffer.from((await body.next()).value ?? []).toString()).to.equal('half');
      expect(await failure(body.next())).to.be.instanceOf(LLMStreamError);
      expect(await failure(body.next())).to.be.instanceOf(LLMStreamError);
    });
  });

  describe('body size limit', () => {
    const bodies: Readonly<Record<string, (response: Parameters<TestHost['answer']>[0]) => void>> = {
      'by its content-length': (response) => response.writeHead(200, { 'content-length': '1001' }).flushHeaders(),
      'by the received bytes': (response) => {
        for (let part = 0; part < 11; part++) response.write('x'.repeat(100));
      },
      'when decoded': (response) =>
        response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(100_000))),
    };
    for (const [name, answer] of Object.entries(bodies)) {
      it(name, async () => {
        server.answer = answer;
        const error = await failure((await guarded({ maxResponseBytes: 1_000 })(server.url)).text());
        expect(error).to.be.instanceOf(LLMStreamError).and.include({ retryable: false });
        expect((error as Error).message).to.match(/larger than 1000 bytes/);
      });
    }

    it('accepts a body of exactly the limit', async () => {
      server.answer = (response) => response.end('x'.repeat(1_000));
      expect(await (await guarded({ maxResponseBytes: 1_000 })(server.url)).text()).to.have.length(1_000);
    });
  });

  describe('time limits', () => {
    const never = (): void => undefined;

    itInVirtualTime('limits the connection, including name lookup', async () => {
      const error = await failure(guarded({ connectTimeout: 20 }, { lookup: never })('http://slow.example/'));
      expect(error).to.be.instanceOf(LLMTimeoutError);
      expect((error as Error).message).to.equal('slow.example accepted no connection within 20 ms.');
    });

    itInVirtualTime('limits the TLS handshake', async () => {
      const silent = createServer(never).listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const { port } = silent.address() as AddressInfo;
      expect(await failure(guarded({ connectTimeout: 30 })(`https://127.0.0.1:${port}/`))).to.be.instanceOf(
        LLMTimeoutError,
      );
      silent.close();
    });

    itInVirtualTime('limits the headers if the call has a limit', async () => {
      server.answer = never;
      const error = await failure(guarded()(server.url, { call: { headersTimeout: 20 } }));
      expect(error).to.be.instanceOf(LLMTimeoutError);
      expect((error as Error).message).to.match(/did not respond within 20 ms/);
    });

    itInVirtualTime('limits the entire call before the headers', async () => {
      server.answer = never;
      expect(await failure(guarded({ totalTimeout: 20 })(server.url))).to.be.instanceOf(LLMTimeoutError);
    });

    itInVirtualTime('limits the entire call while a body trickles in, and the server notices', async () => {
      let left: Promise<unknown> | undefined;
      server.answer = (response) => {
        left = gone(response);
        const drip = (): void => {
          if (!response.destroyed) response.write('.', () => setImmediate(drip));
        };
        drip();
      };
      const error = await failure(
        (await guarded({ totalTimeout: 60_000 })(server.url, { call: { timeout: 1_500 } })).text(),
      );
      expect(error).to.be.instanceOf(LLMTimeoutError);
      expect((error as Error).message).to.match(/did not complete its response within 1500 ms/);
      await left;
    });

    itInVirtualTime('limits the entire call even if the body is not read', async () => {
      const left = new Promise((resolve) => {
        server.answer = (response) => {
          void gone(response).then(resolve);
          response.write('x');
        };
      });
      const response = await guarded({ totalTimeout: 1_500 })(server.url);
      await left;
      expect(await failure(response.text())).to.be.instanceOf(LLMTimeoutError);
    });
  });

  describe('connection errors', () => {
    it('reports a refused connection', async () => {
      const { url } = server;
      await server.stop();
      const error = await failure(guarded()(url, { call: { vendor: 'openai' } }));
      expect(error).to.be.instanceOf(LLMConnectionError).and.include({ retryable: true, vendor: 'openai' });
      expect((error as Error).message).to.match(/^No response from 127\.0\.0\.1:\d+: ECONNREFUSED\.$/);
      server = await TestHost.start();
    });

    it('reports an unknown host name', async () => {
      const lookup: GuardedFetchOptions['lookup'] = (_name, _options, callback) =>
        callback(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), '', 4);
      expect(await failure(guarded({}, { lookup })('http://nowhere.example/'))).to.be.instanceOf(LLMConnectionError);
    });

    it('reports a server that hangs up or speaks another protocol', async () => {
      for (const bytes of [
        '',
        'SSH-2.0-OpenSSH\r\n',
        'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      ]) {
        server.answer = (response) => response.socket?.end(bytes);
        expect(await failure(guarded()(server.url)), bytes).to.be.instanceOf(LLMConnectionError);
      }
    });

    it('rejects an invalid URL', async () => {
      for (const url of [
        '',
        'nonsense',
        'ftp://a.example/',
        'file:///etc/passwd',
        'http://user@a.example/',
        'http://:secret@a.example/',
      ]) {
        const error = await failure(guarded()(url));
        expect(error, url).to.be.instanceOf(LLMInvalidRequestError);
        expect((error as Error).message).to.not.include('secret');
      }
    });
  });

  it('applies back-pressure to the server while the body is not read', async () => {
    const total = 32 * 1024 * 1024;
    let taken = 0;
    const part = Buffer.alloc(64 * 1024);
    let finished = false;
    server.answer = (response) => {
      response.on('finish', () => (finished = true));
      const push = (): void => {
        while (taken < total && response.write(part)) taken += part.length;
        taken += taken < total ? part.length : 0;
        if (taken >= total) response.end();
        else response.once('drain', push);
      };
      push();
    };
    const { body } = await guarded()(server.url);
    let read = (await body.next()).value?.byteLength ?? 0;
    // Long enough for a reader without back-pressure to read everything, at 64 KB per turn or more.
    for (let turns = 0; turns < 3_000; turns++) await nextTurn();
    expect(finished, `${taken} bytes taken`).to.equal(false);
    for await (const chunk of body) read += chunk.byteLength;
    expect(read).to.equal(taken);
    expect(finished).to.equal(true);
  });

  it('delivers each chunk as it arrives', async () => {
    let send: (text: string) => void = () => undefined;
    server.answer = (response) => {
      response.flushHeaders();
      send = (text) => response.write(text);
    };
    const { body } = await guarded()(server.url);
    for (const text of ['a', 'b', 'c']) {
      const next = body.next();
      send(text);
      expect(Buffer.from((await next).value ?? []).toString()).to.equal(text);
    }
  });

  it('closes its sockets and rejects later calls once closed', async () => {
    let left: Promise<unknown> | undefined;
    const reached = new Promise<void>((resolve) => {
      server.answer = (response) => {
        left = gone(response);
        resolve();
      };
    });
    const fetch = guarded();
    const pending = failure(fetch(server.url));
    await reached;
    fetch.close();
    expect(await pending).to.be.instanceOf(LLMConnectionError);
    await left;
    expect(await failure(fetch(server.url))).to.be.instanceOf(LLMConnectionError);
  });
});
