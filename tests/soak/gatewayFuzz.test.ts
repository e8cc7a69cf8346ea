/**
 * Random and mutated requests over every route, and random frames of a WebSocket: none stops the server, fails by the
 * server's own fault, keeps it from others for long, or leaves anything in its memory.
 */
import { once } from 'node:events';
import { Agent, request as send } from 'node:http';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { startSimulator } from '../../imports/simulator/startSimulator';
import type { Simulator } from '../../imports/simulator/Simulator';
import { seededRandom } from '../../scripts/seed/seededRandom';
import { FuzzRequests, routesOf } from '../support/fuzz/fuzzRequests';
import type { FuzzRequest, FuzzRoute } from '../support/fuzz/fuzzRequests';
import { simulatedVendors } from '../support/simulatedVendors';
import { startServerProcess } from '../support/startServerProcess';
import type { ServerProcess } from '../support/startServerProcess';

/** Some thousands find what is wrong with a route; 50,000 also find what is lost with each request. */
const REQUESTS = Number(process.env['BOLIDE_FUZZ_REQUESTS'] ?? 5_000);
const FRAMES = REQUESTS / 10;
const SEED = Number(process.env['BOLIDE_SEED'] ?? Date.now() % 1e9);
const PARALLEL = 12;
/** Requests after which the loop's delay is read. */
const BATCH = 250;
/** Milliseconds after which an endless stream is left. */
const STREAM_MS = 10;

/** Where nobody listens. */
const NOBODY = 'http://127.0.0.1:9/x';

/** Models that requests name. The vendor of the last one cannot be reached. */
const MODELS = [
  'openai/gpt-5-mini',
  'anthropic/claude-sonnet-4-5',
  'google/gemini-2.5-flash',
  'groq/llama-3.3-70b-versatile',
  'grok/grok-4',
  'gpt-5-mini',
  'unknown',
  'llama/llama-3.3-70b-versatile',
];

interface Answer {
  readonly status: number;
  readonly text: string;
}

describe(`${REQUESTS} random requests (seed ${SEED})`, function () {
  this.timeout(900_000);
  let simulator: Simulator;
  let server: ServerProcess;
  let requests: FuzzRequests;
  let tokens: readonly string[] = [];
  let unit: number;
  let longest = 0;
  const agent = new Agent({ keepAlive: true, maxSockets: PARALLEL });

  before(async () => {
    simulator = await startSimulator();
    // The limits of guesses and of users would answer everything else.
    server = await startServerProcess({
      ...simulatedVendors(simulator),
      LLAMA_BASE_URL: NOBODY,
      AUTH_FAILURES: '1000000',
      AUTH_FAILURES_PER_ADDRESS: '1000000',
      USER_REQUESTS_PER_MINUTE: '0',
      USER_PARALLEL_CALLS: '0',
      USER_CONNECTIONS: '0',
    });
    unit = await server.calibrate();
    tokens = await renewTokens();
    const document: unknown = await (await fetch(`${server.url}/openapi.json`)).json();
    requests = new FuzzRequests(withBodies(routesOf(document as Parameters<typeof routesOf>[0])), {
      tokens: () => tokens,
      models: MODELS,
      address: NOBODY,
      random: seededRandom(SEED),
    });
  });
  after(async () => {
    agent.destroy();
    await server.close();
    await simulator.close();
  });

  const ask = ({ method, path, headers, body }: Partial<FuzzRequest> & Pick<FuzzRequest, 'method' | 'path'>) =>
    new Promise<Answer>((resolve, reject) => {
      const { hostname, port } = new URL(server.url);
      const outgoing = send({
        hostname,
        port,
        path,
        method,
        agent,
        headers: { authorization: `Bearer ${server.token}`, ...headers, 'content-length': body?.length ?? 0 },
      });
      let text = '';
      outgoing.once('error', (error) => reject(error));
      outgoing.setTimeout(60_000, () => outgoing.destroy(new Error('There was no answer.')));
      outgoing.once('response', (response) => {
        const { statusCode: status = 0 } = response;
        const done = (): void => resolve({ status, text });
        response.on('data', (data: Buffer) => (text += text.length < 2_000 ? data.toString() : ''));
        response.once('end', done);
        response.once('close', done);
        response.once('error', done);
        if (method === 'GET' && response.headers['content-type']?.startsWith('text/event-stream') === true)
          setTimeout(() => outgoing.destroy(), STREAM_MS);
      });
      outgoing.end(body);
    });

  const issue = async (scope: string): Promise<string> => {
    const { status, text } = await ask({
      method: 'POST',
      path: '/tokens',
      headers: { 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify({ name: 'fuzz', userId: `fuzz-${scope}`, scopes: [scope] })),
    });
    expect(status, text).to.be.within(200, 201);
    return (JSON.parse(text) as { readonly token: string }).token;
  };

  /** Some requests revoke tokens. */
  const renew = async (scope: string, token: string | undefined): Promise<string> => {
    if (token === undefined) return issue(scope);
    const { status } = await ask({ method: 'GET', path: '/v1/models', headers: { authorization: `Bearer ${token}` } });
    return status === 401 ? issue(scope) : token;
  };

  const renewTokens = async (): Promise<readonly string[]> => [
    server.token,
    ...(await Promise.all(['generate', 'read', 'admin'].map((scope, at) => renew(scope, tokens[at + 1])))),
  ];

  /** What the server holds of the users who sent requests is removed, so that what is left is lost memory. */
  const heapWithoutUsers = async (): Promise<number> => {
    for (const userId of ['local', 'fuzz-generate', 'fuzz-read', 'fuzz-admin'])
      await ask({ method: 'DELETE', path: `/user-data/${userId}` });
    const { heap } = await server.collect();
    return heap;
  };

  const expectShort = async (what: string): Promise<void> => {
    const { stall } = await server.read();
    longest = Math.max(longest, stall);
    // The machine may have become slower meanwhile.
    if (stall >= unit) unit = Math.max(unit, await server.calibrate());
    expect(stall / unit, `${what}: ${Math.round(stall)} ms, with ${Math.round(unit)} ms as the unit`).to.be.lessThan(1);
  };

  /** @returns what is wrong with the answer */
  const problemOf = async (request: FuzzRequest, answers: Map<number, number>): Promise<string | undefined> => {
    const shown = `${request.method} ${request.path} ${request.body?.toString('latin1').slice(0, 1_000) ?? ''}`;
    try {
      const { status, text } = await ask(request);
      answers.set(status, (answers.get(status) ?? 0) + 1);
      return status >= 500 && !isVendors(status, shown, text)
        ? `${status} ${text.slice(0, 300)} for ${shown}`
        : undefined;
    } catch (error) {
      return `${String(error)} for ${shown}`;
    }
  };

  it('are answered, none by an error of the server', async () => {
    const problems: string[] = [];
    const answers = new Map<number, number>();
    let warm = 0;
    for (let sent = 0; sent < REQUESTS; sent += BATCH) {
      const batch = Array.from({ length: BATCH }, () => requests.next());
      await server.read();
      const worker = async (): Promise<void> => {
        for (let next = batch.pop(); next !== undefined; next = batch.pop()) {
          const problem = await problemOf(next, answers);
          if (problem !== undefined) problems.push(problem);
        }
      };
      await Promise.all(Array.from({ length: PARALLEL }, worker));
      expect(server.isAlive, server.errors).to.equal(true);
      await expectShort(`requests ${sent} to ${sent + BATCH}`);
      tokens = await renewTokens();
      if (warm === 0 && sent >= REQUESTS / 3) warm = await heapWithoutUsers();
    }
    // Otherwise it would test refusals only.
    expect(answers.get(200), JSON.stringify([...answers])).to.be.greaterThan(REQUESTS / 20);
    expect(problems.slice(0, 20), `${problems.length} problems`).to.deep.equal([]);
    expect(server.errors).not.to.match(BUGS);
    const grown = (await heapWithoutUsers()) - warm;
    console.log(
      `      ${JSON.stringify({ longestStallMs: Math.round(longest), unitMs: Math.round(unit), heapMB: Math.round(warm / 1e6), grownMB: Math.round(grown / 1e6), answers: Object.fromEntries(answers) })}`,
    );
    expect(grown / warm, `${Math.round(grown / 1e6)} MB more than ${Math.round(warm / 1e6)}`).to.be.lessThan(0.5);
  });

  it(`come as ${FRAMES} frames of a WebSocket, each answered by events or an error`, async () => {
    const open = async (): Promise<WebSocket> => {
      const opened = new WebSocket(`${server.url.replace('http', 'ws')}/v1/responses`, {
        headers: { authorization: `Bearer ${server.token}` },
      });
      await once(opened, 'open');
      return opened;
    };
    /** The last message of the turn. */
    const turn = (frame: string | Buffer): Promise<string> =>
      new Promise((resolve, reject) => {
        const shown = frame.toString('latin1').slice(0, 1_000);
        const timer = setTimeout(() => reject(new Error(`There was no answer to ${shown}`)), 180_000);
        const settle = (text: string): void => {
          clearTimeout(timer);
          socket.off('message', onMessage).off('close', onClose);
          resolve(text);
        };
        const onMessage = (data: Buffer): void => {
          const text = data.toString();
          const { type } = JSON.parse(text) as { readonly type: string };
          if (/^(?:error|response\.(?:completed|incomplete|failed))$/.test(type)) settle(text);
        };
        const onClose = (): void => settle('{"type":"close"}');
        socket.on('message', onMessage).once('close', onClose);
        socket.send(frame);
      });
    let socket = await open();
    for (let sent = 0; sent < FRAMES; sent += 1) {
      if (socket.readyState !== socket.OPEN) socket = await open();
      const frame = requests.frame();
      const text = await turn(frame);
      const { status } = JSON.parse(text) as { readonly status?: number };
      if (status !== undefined && !isVendors(status, frame.toString('latin1'), text))
        expect(status, `${text.slice(0, 300)} for ${frame.toString('latin1').slice(0, 1_000)}`).to.be.lessThan(500);
      if (sent % 50 === 49) {
        socket.terminate();
        socket = await open();
        await expectShort(`frames up to ${sent}`);
      }
    }
    socket.terminate();
    expect(server.isAlive, server.errors).to.equal(true);
    expect(server.errors).not.to.match(BUGS);
  });
});

/** What the server writes about errors that are its own. */
const BUGS = /unexpectedly|unhandled|TypeError|RangeError|at .+:\d+:\d+/i;

/** Whether an error answers for a vendor that cannot be reached, or for what no vendor can do. */
function isVendors(status: number, request: string, answer: string): boolean {
  if (status === 501) return true;
  // Anthropic's API has 500 for what others answer by 502.
  const isUnreachable = status === 500 && answer.includes('No response from 127.0.0.1:9: ECONNREFUSED.');
  return /llama/.test(request) && (isUnreachable || [502, 503, 504, 529].includes(status));
}

/** Every route that takes a body has one to mutate. */
function withBodies(routes: readonly FuzzRoute[]): readonly FuzzRoute[] {
  return routes.map((route) =>
    route.method === 'post' && route.examples.length === 0 ? { ...route, examples: [{}] } : route,
  );
}
