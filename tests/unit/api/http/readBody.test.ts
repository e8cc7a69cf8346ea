import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { ClientRequest, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { isLLMError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import type { HttpRequest } from '../../../../imports/api/http/HttpMessages';
import { readBody } from '../../../../imports/api/http/readBody';
import { failure } from '../../../support/failure';

describe('readBody', () => {
  let server: Server;
  let outgoing: ClientRequest;

  /** @returns the request as the server gets it */
  const open = async (headers: Readonly<Record<string, string | number>>): Promise<HttpRequest> => {
    server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    outgoing = send({ port, host: '127.0.0.1', method: 'POST', headers });
    outgoing.on('error', () => undefined);
    outgoing.flushHeaders();
    const [incoming] = (await once(server, 'request')) as [HttpRequest];
    return incoming;
  };
  afterEach(() => {
    outgoing.destroy();
    server.closeAllConnections();
    server.close();
  });
  const statusOf = (error: unknown): number | undefined => (isLLMError(error) ? error.httpStatus : undefined);

  it('reads a body of exactly the limit, in any number of chunks', async () => {
    const incoming = await open({ 'transfer-encoding': 'chunked' });
    const read = readBody(incoming, 6);
    outgoing.write('ab');
    await once(incoming, 'data');
    outgoing.end('cdef');
    expect(String(await read)).to.equal('abcdef');
  });

  it('reads an empty body', async () => {
    const read = readBody(await open({ 'transfer-encoding': 'chunked' }), 6);
    outgoing.end();
    expect(await read).to.have.length(0);
  });

  it('refuses a body that is too large as soon as that is known', async () => {
    const incoming = await open({ 'transfer-encoding': 'chunked' });
    const read = failure(readBody(incoming, 6));
    outgoing.write('abcdef');
    await once(incoming, 'data');
    outgoing.write('g');
    expect(statusOf(await read)).to.equal(413);
    expect(incoming.complete).to.equal(false);
  });

  it('refuses a body whose client left', async () => {
    const incoming = await open({ 'content-length': 7 });
    const read = failure(readBody(incoming, 10));
    outgoing.write('abc');
    await once(incoming, 'data');
    outgoing.destroy();
    expect(statusOf(await read)).to.equal(400);
  });

  for (const [encoding, compress] of [
    ['gzip', gzipSync],
    ['X-GZIP', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)
    it(`decompresses ${encoding}`, async () => {
      const body = compress('abcdef');
      const read = readBody(await open({ 'content-length': body.length, 'content-encoding': encoding }), 6);
      outgoing.end(body);
      expect(String(await read)).to.equal('abcdef');
    });

  it('refuses a body that is too large once it is decompressed, and leaves the rest of it to be discarded', async () => {
    const body = gzipSync(Buffer.alloc(10_000_000));
    const incoming = await open({ 'content-length': body.length, 'content-encoding': 'gzip' });
    const read = failure(readBody(incoming, 1_000_000));
    outgoing.end(body);
    expect(statusOf(await read)).to.equal(413);
    incoming.resume();
    if (!incoming.readableEnded) await once(incoming, 'end');
  });

  it('refuses a compressed body that is damaged, cut, or of an encoding that it does not know', async () => {
    const body = gzipSync('abcdef');
    const outcomes: (number | undefined)[] = [];
    for (const [encoding, sent] of [
      ['gzip', Buffer.from('abcdef')],
      ['gzip', body.subarray(0, -4)],
      ['zstd', body],
    ] as const) {
      const incoming = await open({ 'content-length': sent.length, 'content-encoding': encoding });
      const read = failure(readBody(incoming, 100));
      outgoing.end(sent);
      outcomes.push(statusOf(await read));
      outgoing.destroy();
      server.close();
    }
    expect(outcomes).to.deep.equal([400, 400, 415]);
    const incoming = await open({ 'content-length': body.length, 'content-encoding': 'gzip' });
    const read = failure(readBody(incoming, 100));
    outgoing.write(body.subarray(0, 12));
    await once(incoming, 'data');
    outgoing.destroy();
    expect(statusOf(await read)).to.equal(400);
  });

  it("returns what the app's own parser has read, and nothing for a request without a body", async () => {
    const parsed = await open({ 'content-length': 2 });
    parsed.body = { a: 1 };
    expect(await readBody(parsed, 6)).to.equal(parsed.body);
    outgoing.destroy();
    server.close();
    expect(await readBody(await open({ 'content-length': 0 }), 6)).to.equal(undefined);
  });
});
