/** What can keep a shutdown of the gateway from ending: clients that left early, and clients that stop reading. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { expect } from 'chai';
import express from 'express';
import { InFlightRequests } from '../../imports/api/http/InFlightRequests';
import { startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { RecordingLogger } from '../support/RecordingLogger';

describe('A shutdown of the gateway', () => {
  let gateway: Gateway;
  const logger = new RecordingLogger();
  const sockets: Socket[] = [];
  beforeEach(async () => {
    logger.warnings.length = 0;
    gateway = await startGateway({ api: { limits: { shutdownGrace: 30 }, logger } });
  });
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await gateway.close();
  });

  async function post(port: number, path: string, body: object): Promise<Socket> {
    const text = JSON.stringify(body);
    const socket = connect(port, '127.0.0.1');
    sockets.push(socket);
    await once(socket, 'connect');
    socket.write(
      `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${TOKENS.ann}\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
    );
    return socket;
  }

  it('does not wait for a client that left while the app’s own middleware still worked', async () => {
    const app = express();
    const handled = new Promise<void>((resolve) => {
      app.use((_request, response, next) => {
        response.once('close', () => {
          next();
          resolve();
        });
      });
    });
    app.use(gateway.api.router);
    const server: Server = createServer(app).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const arrived = once(server, 'request');
    const socket = await post((server.address() as AddressInfo).port, '/v1/responses', { model: 'openai', input: 'x' });
    await arrived;
    socket.destroy();
    await handled;
    await gateway.api.close();
    expect(logger.warnings).to.deep.equal([]);
    expect(gateway.simulator.requests).to.deep.equal([]);
    server.close();
  });

  it('names the requests that it aborts', async () => {
    gateway.simulator.enqueue({ text: 'Hello', fault: { kind: 'stall', after: { events: 2 } } });
    const stalled = gateway.request('/v1/responses', { model: 'openai', input: 'x', stream: true });
    await gateway.simulator.nextRequest();
    await gateway.api.close();
    await (await stalled).text();
    expect(logger.warnings).to.deep.equal(['Requests were aborted after 30 ms of shutdown: POST /v1/responses.']);
  });
});

describe('InFlightRequests', () => {
  it('waits only so long for an aborted request whose client stopped reading', async () => {
    const requests = new InFlightRequests();
    const controller = new AbortController();
    requests.enter(controller, { route: 'POST /v1/responses' });
    const aborted: string[] = [];
    await requests.close(1, 1, (routes) => aborted.push(...routes));
    expect(controller.signal.aborted).to.equal(true);
    expect(aborted).to.deep.equal(['POST /v1/responses']);
    expect(requests.size).to.equal(1);
  });
});
