/**
 * A simulated vendor with minimal cost: its responses are prepared bytes, chosen by the workload in the path and the
 * number of tool results in the request.
 */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { callsOf, RESULT_MARK, streamOf, textOf } from './responses';
import { workload } from './workloads';
import type { BenchWire, Workload } from './workloads';

const PATH = /^\/(\w+)\/(openai|anthropic|chat)\//;

function respond(request: IncomingMessage, response: ServerResponse, body: string): void {
  const [, id = '', wire = ''] = PATH.exec(request.url ?? '') ?? [];
  const requested = workload(id);
  const benchWire = wire as BenchWire;
  if (body.includes('"stream":true') && requested.deltas !== undefined) stream(response, benchWire, requested);
  else {
    const json = requested.turns === undefined ? textOf(benchWire) : turn(benchWire, requested, body);
    response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': json.length, 'x-request-id': 'req_1' })
      .end(json);
  }
}

/** Every request repeats the results of all earlier turns. */
function turn(wire: BenchWire, { turns = 0, calls = 0 }: Workload, body: string): Buffer {
  const done = (body.split(RESULT_MARK[wire]).length - 1) / calls;
  return done < turns ? callsOf(wire, calls, done) : textOf(wire);
}

function stream(response: ServerResponse, wire: BenchWire, { deltas = 0, every }: Workload): void {
  const bytes = streamOf(wire, deltas);
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': 'req_1' });
  if (every === undefined) {
    response.end(bytes.complete);
    return;
  }
  let sent = 0;
  const timer = setInterval(() => {
    const frame = bytes.frames[sent];
    sent += 1;
    if (frame !== undefined) response.write(frame);
    if (sent < bytes.frames.length) return;
    clearInterval(timer);
    response.end();
  }, every);
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => respond(request, response, Buffer.concat(chunks).toString('latin1')));
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port));
process.on('disconnect', () => process.exit());
