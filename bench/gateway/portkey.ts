/** Portkey's gateway, in a process of its own. It takes the vendor's address from a header of each request. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { reportUsage } from './reportUsage';

async function main(): Promise<void> {
  const url = `http://127.0.0.1:${await freePort()}`;
  process.argv.push(`--port=${new URL(url).port}`, '--headless');
  // The package has no types.
  const server = '@portkey-ai/gateway/build/start-server.js';
  await import(server);
  while (!(await isServing(url))) await new Promise((resolve) => setTimeout(resolve, 50));
  process.send?.(url);
  reportUsage();
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

function isServing(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
