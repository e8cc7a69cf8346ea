/** A simulated vendor whose model names say how it responds: `<deltas>-<milliseconds between two>`, or `json`. */
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { streamOf, textOf } from '../responses';
import type { BenchWire } from '../workloads';
import { PATHS } from './paths';

const texts: Readonly<Record<BenchWire, string>> = {
  openai: textOf('openai').toString(),
  anthropic: textOf('anthropic').toString(),
  chat: textOf('chat').toString(),
};
let responses = 0;

function respond(response: ServerResponse, path: string, body: string): void {
  const wire = (Object.keys(PATHS) as BenchWire[]).find((each) => path.endsWith(PATHS[each]));
  if (wire === undefined) throw new Error(`No API has the path ${path}.`);
  const [, deltas, every] = /"model":"(?:\w+\/)?(\d+)-(\d+)"/.exec(body) ?? [];
  if (deltas === undefined) {
    responses += 1;
    // Each response has an id of its own, under which it can be stored.
    const json = Buffer.from(texts[wire].replace('_text"', `_${responses}"`));
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': json.length }).end(json);
    return;
  }
  const { complete, frames } = streamOf(wire, Number(deltas));
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  if (every === '0') {
    response.end(complete);
    return;
  }
  let sent = 0;
  const timer = setInterval(() => {
    const frame = frames[sent];
    sent += 1;
    if (frame !== undefined) response.write(frame);
    if (sent < frames.length) return;
    clearInterval(timer);
    response.end();
  }, Number(every));
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => respond(response, request.url ?? '', Buffer.concat(chunks).toString('latin1')));
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
