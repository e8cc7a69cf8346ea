/** The examples run unmodified from the command line, without a key. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { VENDOR_VARIABLES } from '../../imports/startup/settings/vendors';
import { describeInSoak } from '../support/soak';

const ROOT = path.join(__dirname, '../..');
const RUN = ['scripts/run.cjs'];

/** @throws with both outputs if the exit code is not 0 */
async function run(
  example: string,
  ...args: readonly string[]
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  return promisify(execFile)(process.execPath, [...RUN, `examples/${example}.ts`, ...args], {
    cwd: ROOT,
    env: withoutVendors(),
    timeout: 100_000,
  });
}

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

describeInSoak('the examples', () => {
  it('simulation: every person acts in every phase, and is saved with the responses in memory', async () => {
    const { stdout, stderr } = await run('simulation');
    expect(stderr).to.contain('SIMULATED');
    const lines = stdout.trim().split('\n');
    expect(lines.slice(0, -3).map((line) => line.split(':')[0])).to.deep.equal(
      [1, 2, 3].flatMap((day) =>
        ['intention', 'action   '].flatMap((phase) =>
          ['Ada', 'Bob', 'Eve'].map((name) => `day ${day} ${phase} ${name}`),
        ),
      ),
    );
    for (const line of lines.filter((each) => each.startsWith('day') && each.includes('Eve')))
      expect(line).to.contain('watches the harbour (by habit: model-not-found)');
    const saved = lines.slice(-3).map(
      (line) =>
        JSON.parse(line.slice(line.indexOf('{'))) as {
          intention_chain?: string[];
          action_chain?: string[];
          usage?: { total_requests: number };
        },
    );
    expect(
      saved.map((each) => [each.intention_chain?.length, each.action_chain?.length, each.usage?.total_requests]),
    ).to.deep.equal([
      [2, 2, 6],
      [2, 2, 6],
      [undefined, undefined, undefined],
    ]);
  });

  it('import: reads or lists every line, and completes the progress bar', async () => {
    const { stdout, stderr } = await run('import', '12');
    expect(stdout).to.match(
      /^11 of 12 products read, worth 173\.50 euros; the first: \{"price":10\.5,.*\}\nline 9 was not read: invalid-output: .*price.*\n$/,
    );
    expect(stderr.match(/\[.+\] \d+\/12/g)).to.deep.equal(
      [3, 6, 9, 12].map((done) => `[${'#'.repeat(Math.round(done * 2.5)).padEnd(30, '.')}] ${done}/12`),
    );
  });

  it('tracing: prints the spans of a run, with the link of a late result', async () => {
    const { stdout } = await run('tracing');
    const [, tree = ''] = stdout.split('\n\n');
    expect(tree.replaceAll(/\d+ ms(?:, \d+ \+ \d+ tokens)?/g, 'ms').split('\n')).to.deep.equal([
      'invoke_agent (ms)',
      '  chat gpt-5.4-mini (ms)',
      '  execute_tool get_weather (ms)',
      '  execute_tool research_topic (ms)',
      '  chat gpt-5.4-mini (ms)',
      '  chat gpt-5.4-mini (ms, delivers a late result)',
      '',
    ]);
  });

  it('chat: uses tool results in responses, and resumes after a disconnect', async () => {
    const { stdout } = await run('chat');
    expect(stdout).to.match(
      /^> What is the weather in Lisbon\?\n.*Lisbon.*\(Simulated response\.\)\n> Thank you\. And the time\?\n.+\n\(disconnected after event [\w.~-]+; resuming with Last-Event-ID\)\n.+\(Simulated response\.\)\n$/,
    );
    const [before = '', after = ''] = stdout.split('And the time?\n')[1]?.split(/\n\(disconnected.*\)\n/) ?? [];
    expect(before + after, 'nothing is missing, nothing is there twice').to.match(
      /^get_time returned: “\d+\/\d+\/\d+, \d+:\d+:\d+ UTC”\. \(Simulated response\.\)\n$/,
    );
    expect(stdout).not.to.contain('ERROR');
  });

  it('chat: keeps running for curl with --serve', async () => {
    const child = spawn(process.execPath, [...RUN, 'examples/chat.ts', '--serve'], {
      cwd: ROOT,
      env: withoutVendors(),
    });
    try {
      const [url, token] = await waitForMatch(
        child.stdout,
        /'(http:\/\/127\.0\.0\.1:\d+)\/output.*Bearer ([\w-]+)'[^]*curl .*\/input/,
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

    it('chats with tools, on the vendor whose key is set', async () => {
      const output = await chat(variables(simulator, 'anthropic'));
      expect(output).to.match(/> What is the weather in Lisbon\?[^]*\[get_weather: .*clear.*\][^]*\d+ tokens/);
      expect(output).to.match(/> Research the topic tiny boats\.[^]*\[research_topic: .*12.*\][^]*\d+ tokens/);
      expect(simulator.requests.every(({ vendor }) => vendor === 'anthropic')).to.equal(true);
    });

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
