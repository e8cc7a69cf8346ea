import { expect } from 'chai';
import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { ClientRequest, IncomingMessage, Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isLLMError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { readBytes } from '../../../../imports/api/http/readBytes';
import { failure } from '../../../support/failure';

describe('readBytes', () => {
  let server: Server;
  let outgoing: ClientRequest;

  /** @returns the request as the server gets it */
  const open = async (headers: Readonly<Record<string, string | number>>): Promise<IncomingMessage> => {
    server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    outgoing = send({ port, host: '127.0.0.1', method: 'POST', headers });
    outgoing.on('error', () => undefined);
    outgoing.flushHeaders();
    const [incoming] = (await once(server, 'request')) as [IncomingMessage];
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
    const read = readBytes(incoming, 6);
    outgoing.write('ab');
    await once(incoming, 'data');
    outgoing.end('cdef');
    expect((await read).toString()).to.equal('abcdef');
  });

  it('reads an empty body', async () => {
    const read = readBytes(await open({ 'transfer-encoding': 'chunked' }), 6);
    outgoing.end();
    expect(await read).to.have.length(0);
  });

  it('refuses a body that is too large as soon as that is known', async () => {
    const incoming = await open({ 'transfer-encoding': 'chunked' });
    const read = failure(readBytes(incoming, 6));
    outgoing.write('abcdef');
    await once(incoming, 'data');
    outgoing.write('g');
    expect(statusOf(await read)).to.equal(413);
    expect(incoming.complete).to.equal(false);
  });

  it('refuses a body whose client left', async () => {
    const incoming = await open({ 'content-length': 7 });
    const read = failure(readBytes(incoming, 10));
    outgoing.write('abc');
    await once(incoming, 'data');
    outgoing.destroy();
    expect(statusOf(await read)).to.equal(400);
  });
});
