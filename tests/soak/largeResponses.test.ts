/** A server with a small heap stores large responses, and starts again over what it has stored. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { bundleChild } from '../support/bundleChild';

const TOKEN = 'token-of-the-large-responses';
const MEGABYTE = 1_024 ** 2;
const INPUT = 'many words '.repeat((9 * MEGABYTE) / 11);

interface Server {
  readonly url: string;
  readonly process: ChildProcess;
  /** Settles when the process ends. */
  readonly ended: Promise<unknown>;
}

describe('Large stored responses', () => {
  let directory: string;
  let bundle: string;
  let simulator: Simulator;
  let server: Server | undefined;

  before(async () => {
    bundle = await bundleChild(join(__dirname, '../support/storingServer.ts'));
    simulator = await startSimulator();
  });
  after(async () => {
    await simulator.close();
    await rm(bundle);
  });
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-large-'));
  });
  afterEach(async () => {
    await stop();
    await rm(directory, { recursive: true, force: true });
  });

  async function start(heap: number, env: Readonly<Record<string, string>> = {}): Promise<Server> {
    const child = spawn(process.execPath, [`--max-old-space-size=${heap}`, bundle], {
      env: {
        ...env,
        PORT: '0',
        DATA_DIR: directory,
        BOLIDE_API_TOKEN: TOKEN,
        OPENAI_API_KEY: 'sk-test',
        OPENAI_API_BASE: simulator.baseURL('openai'),
        LOG_LEVEL: 'error',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(child, 'exit');
    const [url] = (await Promise.race([
      once(createInterface({ input: child.stdout }), 'line'),
      ended.then(([code, signal]) => {
        throw new Error(`The server ended before it was ready: ${String(code ?? signal)}.`);
      }),
    ])) as [string];
    return (server = { url, process: child, ended });
  }

  async function stop(): Promise<void> {
    const running = server;
    server = undefined;
    if (running === undefined || running.process.exitCode !== null || running.process.signalCode !== null) return;
    running.process.kill('SIGKILL');
    await running.ended;
  }

  async function create(input: string, fields: object = {}): Promise<Response> {
    return fetch(`${server?.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-5.4', input, ...fields }),
    });
  }

  async function storeLarge(count: number, heap: number): Promise<void> {
    await start(heap);
    let last = '';
    for (let number = 0; number < count; number += 1) {
      const response = await create(`${number} ${INPUT}`);
      expect(response.status, `request ${number}`).to.equal(200);
      const { id } = (await response.json()) as { readonly id: string };
      last = id;
    }
    await stop();
    // 100 MB of stored responses, one more until the oldest is removed, and the log of the largest changes.
    expect(await bytesIn(directory)).to.be.lessThan(150 * MEGABYTE);

    await start(heap);
    const found = await fetch(`${server?.url}/v1/responses/${last}/input_items`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect(found.status).to.equal(200);
    const { data } = (await found.json()) as { readonly data: readonly { readonly content: unknown }[] };
    expect(JSON.stringify(data[0]?.content)).to.include(`${count - 1} many words`);
  }

  it('neither end a server with a heap of 192 MB nor keep it from starting', async function (this: Mocha.Context) {
    this.timeout(180_000);
    await storeLarge(14, 192);
  });

  it('neither end a server with a heap of 512 MB nor keep it from starting, fifty of 9 MB', async function (this: Mocha.Context) {
    this.timeout(300_000);
    await storeLarge(50, 512);
  });
});

async function bytesIn(directory: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  return bytes;
}
