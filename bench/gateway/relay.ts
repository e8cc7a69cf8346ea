/** What the gateway is measured against: it replaces the authorization and pipes bodies in both directions. */
import { Agent, createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { reportUsage } from './reportUsage';

const vendor = new URL(process.env['VENDOR_URL'] ?? '');
const agent = new Agent({ keepAlive: true });

const server = createServer((request, response) => {
  const { host: _, connection: _connection, ...headers } = request.headers;
  const upstream = send(
    {
      agent,
      host: vendor.hostname,
      port: vendor.port,
      path: request.url,
      method: request.method,
      headers: { ...headers, authorization: 'Bearer simulated' },
    },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    },
  );
  upstream.on('error', () => response.destroy());
  response.on('close', () => upstream.destroy());
  request.pipe(upstream);
});
server.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
reportUsage();
