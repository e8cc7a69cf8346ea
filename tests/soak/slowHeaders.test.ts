import { once } from 'node:events';
import { connect } from 'node:net';
import { startStandalone } from '../support/startStandalone';

describe('A client that sends its headers too slowly', () => {
  it('is disconnected', async () => {
    const server = await startStandalone();
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1', () =>
      socket.write('POST /v1/responses HTTP/1.1\r\nhost: x\r\nx-slow: '),
    );
    const dripping = setInterval(() => socket.write('a'), 200);
    socket.on('error', () => undefined);
    socket.resume();
    await once(socket, 'close');
    clearInterval(dripping);
    await server.close();
  });
});
