/** A local HTTP server that speaks each vendor's own protocol, strictly, for tests and for demos without a key. */
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { omitUndefined } from '../business/ai/domain/util/omitUndefined';
import type { VendorName } from '../business/ai/domain/types/VendorTypes';
import { renderJson } from './rendering/RenderedResponse';
import { resolveResponse } from './exchange/resolveResponse';
import type { ResponseSources, ResolvedResponse } from './exchange/resolveResponse';
import { authenticate, hashKey, readKey, redactCredentials } from './exchange/authenticate';
import { planTransmission } from './exchange/planTransmission';
import { RequestJournal } from './exchange/RequestJournal';
import { loadRecordedCase } from './exchange/loadRecordedCase';
import { Playlist } from './exchange/Playlist';
import { ScriptQueue } from './exchange/ScriptQueue';
import { findRoute } from './exchange/findRoute';
import { transmit } from './exchange/transmit';
import { vendorProfile } from './vendorProfiles';
import { parseJson } from './json';
import { PromptCache } from './model/PromptCache';
import { ruleModel } from './model/RuleModel';
import type { PlaybackOptions } from './exchange/RecordedExchange';
import type { RecordedRequest } from './RecordedRequest';
import type { Simulator, SimulatorOptions } from './Simulator';
import { ObjectArchive } from './endpoints/ObjectArchive';
import { ResponseArchive } from './wires/responses/ResponseArchive';

export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const { port = 0, host = '127.0.0.1', recordings, chunkDelayMs = 0, historyLimit = 1000 } = options;
  const journal = new RequestJournal(historyLimit);
  const sources: ResponseSources = {
    script: new ScriptQueue(),
    playlist: new Playlist(),
    model: options.model ?? ruleModel,
    archive: new ResponseArchive(historyLimit, options.backgroundReads),
    objects: new ObjectArchive(),
    batches: options.batches ?? {},
    acceptForeignSignatures: options.acceptForeignSignatures ?? false,
    contextWindow: options.contextWindow ?? Infinity,
    ...(options.cachesPrompts === true ? { promptCache: new PromptCache() } : {}),
  };
  const server = createServer((request, response) => {
    serve(request, response, journal, sources, chunkDelayMs).catch((error: unknown) => {
      // A bug in a script or in the simulator itself must be visible, and must not look like a vendor's response.
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
      console.error(`The vendor simulator failed: ${message}`);
      if (response.headersSent) response.destroy();
      else response.writeHead(599, { 'content-type': 'text/plain' }).end(`The vendor simulator failed: ${message}`);
    });
  });
  // The simulator often shares its clients' event loop. After a long task, Node's default of 5 s would close sockets
  // over which a request is just being sent.
  server.keepAliveTimeout = 60_000;
  server.on('connection', (socket: Socket) => {
    if (sources.script.takeRefusedConnection()) socket.resetAndDestroy();
  });
  await listen(server, port, host);
  // A server that listens on a port has an address object.
  const { port: bound } = server.address() as AddressInfo;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;

  const playRecording = (caseId: string, play: PlaybackOptions): ReturnType<Simulator['playRecording']> => {
    const exchanges = loadRecordedCase(caseId, play.fixturesRoot);
    sources.playlist.add(exchanges, play);
    return exchanges;
  };
  if (recordings !== undefined) for (const caseId of recordings.cases) playRecording(caseId, recordings);

  return {
    url,
    baseURL: (vendor: VendorName) => url + vendorProfile(vendor).basePath,
    requests: journal.requests,
    events: journal.events,
    enqueue: (...responses) => {
      sources.script.add(responses);
      // Only a new connection can be refused.
      if (responses.some((response) => typeof response !== 'function' && response.fault?.kind === 'refuse-connection'))
        server.closeIdleConnections();
    },
    playRecording,
    nextRequest: () => journal.arrived.next(),
    nextAbort: () => journal.aborted.next(),
    nextFinish: () => journal.finished.next(),
    assertDone: () => {
      const problems = [...sources.script.problems(), ...sources.playlist.problems()];
      if (problems.length > 0) throw new Error(`The simulator is not done. ${problems.join('. ')}.`);
    },
    close: () =>
      new Promise((resolve, reject) => {
        journal.close();
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
  journal: RequestJournal,
  sources: ResponseSources,
  chunkDelayMs: number,
): Promise<void> {
  const method = request.method ?? 'GET';
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://simulator');
  const query = Object.fromEntries(searchParams);
  const route = findRoute(method, pathname, query);
  if (route === undefined) {
    request.resume();
    response
      .writeHead(404, { 'content-type': 'application/json' })
      .end(renderJson(404, { error: { message: `No vendor is simulated at ${pathname}.` } }).frames[0]);
    return;
  }
  const bytes = await readBytes(request);
  // A client that left before its request was complete gets no record.
  if (bytes === undefined) return;
  const body = parseBody(bytes);
  const { vendor, operation } = route;
  const key = readKey(vendor, request.headers, query);
  const entry = journal.record({
    method,
    path: pathname,
    query: 'key' in query ? { ...query, key: '[redacted]' } : query,
    vendor,
    ...(operation?.kind === 'generate' ? { wire: operation.wire } : {}),
    headers: redactCredentials(request.headers),
    ...omitUndefined({ keyHash: key === undefined ? undefined : hashKey(key) }),
    body,
  });
  if (response.destroyed) {
    journal.end(entry, false);
    return;
  }
  response.once('close', () => journal.end(entry, response.writableFinished));

  const failure = authenticate(vendor, key);
  const resolved: ResolvedResponse =
    failure === undefined
      ? await resolveResponse(route, entry, sources, bytes)
      : {
          response: renderJson(failure.status, failure.body),
          source: 'rejection',
          rejection: 'Invalid or missing API key.',
        };
  const plan = planTransmission(resolved.response, resolved.fault, chunkDelayMs);
  const outcome = {
    responseSource: resolved.source,
    status: plan.status,
    ...omitUndefined({ rejection: resolved.rejection }),
  };
  Object.assign(entry, outcome satisfies Partial<RecordedRequest>);
  await transmit(response, plan);
}

/** @returns undefined if the client left */
async function readBytes(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks);
}

/** Parsed JSON, or else text. */
function parseBody(bytes: Buffer): unknown {
  const text = bytes.toString();
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
