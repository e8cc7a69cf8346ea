/** A local HTTP server that speaks each vendor's own protocol, strictly, for tests and for demos without a key. */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { VendorName } from '../business/ai/domain/types/VendorTypes';
import { jsonAnswer } from './answers/Rendered';
import { answerRequest } from './exchange/answerRequest';
import type { AnswerSources, FoundAnswer } from './exchange/answerRequest';
import { authenticate, hashOfKey, keyOf, withoutCredentials } from './exchange/authenticate';
import { planSending } from './exchange/faults';
import { Journal } from './exchange/Journal';
import { Playlist, recordedCase } from './exchange/recordings';
import { ReplyQueue } from './exchange/ReplyQueue';
import { routeOf } from './exchange/routes';
import { transmit } from './exchange/transmit';
import { hostOf } from './hosts';
import { parseJson } from './json';
import { ruleModel } from './model/RuleModel';
import type { PlayOptions } from './exchange/PlayedExchange';
import type { RecordedRequest } from './RecordedRequest';
import type { Simulator, SimulatorOptions } from './Simulator';
import { ResponseArchive } from './wires/responses/ResponseArchive';

export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { port = 0, host = '127.0.0.1', recordings, chunkDelayMs = 0, remember = 1000 } = options;
  const journal = new Journal(remember);
  const sources: AnswerSources = {
    replies: new ReplyQueue(),
    playlist: new Playlist(),
    model: options.model ?? ruleModel,
    archive: new ResponseArchive(remember),
    acceptForeignSeals: options.acceptForeignSeals ?? false,
  };
  const server = createServer((request, response) => {
    serve(request, response, journal, sources, chunkDelayMs).catch((error: unknown) => {
      // A mistake in a script or in the simulator itself: said aloud, and never taken for a vendor's answer.
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
      console.error(`The vendor simulator failed: ${message}`);
      if (response.headersSent) response.destroy();
      else response.writeHead(599, { 'content-type': 'text/plain' }).end(`The vendor simulator failed: ${message}`);
    });
  });
  // It often shares its clients' event loop: after a long task Node's 5 s would close sockets that a request is
  // just being sent over.
  server.keepAliveTimeout = 60_000;
  server.on('connection', (socket: Socket) => {
    if (sources.replies.takeRefusedConnection()) socket.resetAndDestroy();
  });
  await listen(server, port, host);
  // The address of a server on a port is never a pipe's name.
  const { port: bound } = server.address() as AddressInfo;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;

  const playRecording = (caseId: string, play: PlayOptions): ReturnType<Simulator['playRecording']> => {
    const exchanges = recordedCase(caseId, play.fixturesRoot);
    sources.playlist.add(exchanges, play);
    return exchanges;
  };
  if (recordings !== undefined) for (const caseId of recordings.cases) playRecording(caseId, recordings);

  return {
    url,
    baseURL: (vendor: VendorName) => url + hostOf(vendor).basePath,
    requests: journal.requests,
    events: journal.events,
    enqueue: (...replies) => {
      sources.replies.add(replies);
      // Only a new connection can be refused.
      if (replies.some((reply) => typeof reply !== 'function' && reply.fault?.kind === 'refuse-connection'))
        server.closeIdleConnections();
    },
    playRecording,
    nextRequest: () => journal.arrivals.next(),
    nextAbort: () => journal.aborts.next(),
    nextFinish: () => journal.finishes.next(),
    assertDone: () => {
      const complaints = [...sources.replies.complaints(), ...sources.playlist.complaints()];
      if (complaints.length > 0) throw new Error(`The simulator is not done: ${complaints.join('. Also, ')}.`);
    },
    close: () =>
      new Promise((resolve, reject) => {
        journal.end();
        server.close((error) => {
          if (error === undefined) resolve();
          else reject(error);
        });
        server.closeAllConnections();
      }),
  };
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  journal: Journal,
  sources: AnswerSources,
  chunkDelayMs: number,
): Promise<void> {
  const method = request.method ?? 'GET';
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://simulator');
  const query = Object.fromEntries(searchParams);
  const route = routeOf(method, pathname, query);
  if (route === undefined) {
    request.resume();
    response
      .writeHead(404, { 'content-type': 'application/json' })
      .end(jsonAnswer(404, { error: { message: `No vendor lives at ${pathname}.` } }).frames[0]);
    return;
  }
  const body = await bodyOf(request);
  // A client that left before its request was whole has asked nothing.
  if (body === undefined) return;
  const { vendor, operation } = route;
  const key = keyOf(vendor, request.headers, query);
  const entry = journal.open({
    method,
    path: pathname,
    query: 'key' in query ? { ...query, key: '[redacted]' } : query,
    vendor,
    ...(operation?.kind === 'generate' ? { wire: operation.wire } : {}),
    headers: withoutCredentials(request.headers),
    ...(key === undefined ? {} : { keyHash: hashOfKey(key) }),
    body,
  });
  if (response.destroyed) {
    journal.close(entry, false);
    return;
  }
  response.once('close', () => journal.close(entry, response.writableFinished));

  const failure = authenticate(vendor, key);
  const found: FoundAnswer =
    failure === undefined
      ? await answerRequest(route, entry, sources)
      : { answer: jsonAnswer(failure.status, failure.body), by: 'refusal', refusal: 'the key' };
  const plan = planSending(found.answer, found.fault, chunkDelayMs);
  Object.assign(entry, {
    answeredBy: found.by,
    status: plan.status,
    ...(found.refusal === undefined ? {} : { refusal: found.refusal }),
  } satisfies Partial<RecordedRequest>);
  await transmit(response, plan);
}

/** The body as JSON, or as text when it isn't; undefined when the client left. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return undefined;
  }
  const text = Buffer.concat(chunks).toString();
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

async function listen(server: Server, port: number, host: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
