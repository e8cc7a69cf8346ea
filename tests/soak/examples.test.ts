/** The examples when they are killed, serve, or lack what they need. tests/smoke runs each once. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { VENDOR_VARIABLES } from '../../imports/host/settings/vendors';

const ROOT = path.join(__dirname, '../..');
const RUN = ['scripts/run.cjs'];

function withoutVendors(): NodeJS.ProcessEnv {
  const vendors = Object.values(VENDOR_VARIABLES).flatMap((names) =>
    Object.values(names).filter((name) => typeof name === 'string'),
  );
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) => !vendors.includes(name) && !name.startsWith('LLM_') && name !== 'PORT',
    ),
  );
}

/** Returns the groups of the pattern as soon as the output matches it. */
async function waitForMatch(stream: AsyncIterable<Uint8Array>, pattern: RegExp): Promise<readonly string[]> {
  let text = '';
  for await (const chunk of stream) {
    text += Buffer.from(chunk).toString();
    const match = pattern.exec(text);
    if (match !== null) return match.slice(1);
  }
  throw new Error(`ended without ${String(pattern)}: ${text}`);
}

describe('the examples', () => {
  it('chat: keeps running for curl with --serve', async () => {
    const child = spawn(process.execPath, [...RUN, 'examples/chat.ts', '--serve'], {
      cwd: ROOT,
      env: withoutVendors(),
    });
    try {
      const [url, token] = await waitForMatch(
        child.stdout,
        /'(http:\/\/127\.0\.0\.1:\d+\/api)\/output.*Bearer ([\w-]+)'[^]*curl .*\/input/,
      );
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const answer = await fetch(`${url}/input`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ conversation: 'mine', message: 'Hello' }),
      });
      expect(answer.status).to.equal(202);
      const stream = await fetch(`${url}/output/stream?conversation=mine`, { headers });
      await waitForMatch(stream.body!, /data: \[DONE\]/);
    } finally {
      child.kill();
      await once(child, 'exit');
    }
  });

  it('nightly: saves every report exactly once, even if killed and restarted', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'bolide-nightly-'));
    const start = (): ReturnType<typeof spawn> =>
      spawn(process.execPath, [...RUN, 'examples/nightly.ts', '--now', '2026-11-22'], {
        cwd: ROOT,
        env: { ...withoutVendors(), DATA_DIR: directory, MONGO_URL: '' },
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    const killed = start();
    const exited = once(killed, 'exit');
    await waitForMatch(killed.stdout as AsyncIterable<Uint8Array>, /saved (\w+)\n/);
    killed.kill('SIGKILL');
    await exited;
    const restarted = start();
    const ended = once(restarted, 'exit');
    const [summary] = await waitForMatch(
      restarted.stdout as AsyncIterable<Uint8Array>,
      /^(6 reports of 2026-11-22 are done), in \d+ model calls$/m,
    );
    // It closes its database after it has printed the summary.
    expect(await ended, 'exit code and signal').to.deep.equal([0, null]);
    expect(summary).to.equal('6 reports of 2026-11-22 are done');
    const saved = (await readFile(path.join(directory, 'reports.txt'), 'utf8')).trim().split('\n');
    expect(saved.map((line) => line.split(' ')[0]).toSorted()).to.deep.equal([
      'Lisbon',
      'Madrid',
      'Oslo',
      'Paris',
      'Rome',
      'Vienna',
    ]);
    await rm(directory, { recursive: true });
  });

  describe('agent', () => {
    const variables = (simulator: Simulator, ...vendors: readonly ('openai' | 'anthropic')[]): NodeJS.ProcessEnv =>
      Object.fromEntries(
        vendors.flatMap((vendor) => [
          [VENDOR_VARIABLES[vendor]?.key ?? '', 'a-key'],
          [VENDOR_VARIABLES[vendor]?.baseURL ?? '', simulator.baseURL(vendor)],
        ]),
      );
    let simulator: Simulator;
    before(async () => {
      simulator = await startSimulator();
    });
    after(() => simulator.close());

    /** @returns what it printed, on standard output or, if it failed, on standard error */
    async function chat(env: NodeJS.ProcessEnv, ...messages: readonly string[]): Promise<string> {
      try {
        const { stdout } = await promisify(execFile)(process.execPath, [...RUN, 'examples/agent.ts', ...messages], {
          cwd: ROOT,
          env: { ...withoutVendors(), ...env },
          timeout: 100_000,
        });
        return stdout;
      } catch (error) {
        return (error as { readonly stderr: string }).stderr;
      }
    }

    it('uses the default provider', async () => {
      const before = simulator.requests.length;
      await chat({ ...variables(simulator, 'openai', 'anthropic'), LLM_PROVIDER: 'anthropic' }, 'Hello');
      expect(simulator.requests.slice(before).map(({ vendor }) => vendor)).to.deep.equal(['anthropic']);
    });

    describe('without what it needs', () => {
      it('states which keys may be set when none is', async () => {
        const output = await chat({});
        expect(output).to.contain('No provider is configured').and.to.contain('ANTHROPIC_API_KEY');
      });

      it('states that budgets need a user', async () => {
        const output = await chat({ ...variables(simulator, 'openai'), LLM_BUDGET_DAY_CALLS: '5' }, 'Hello');
        expect(output).to.contain('"userId" is required, because budgets');
      });
    });
  });
});
