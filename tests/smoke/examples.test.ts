/** The examples run unmodified from the command line, without a key. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { runCommand } from '../support/runCommand';

describe('npm run', () => {
  it('example:simulation: every person acts in every phase, and is saved with the responses in memory', async () => {
    const { stdout, stderr } = await runCommand('example:simulation');
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

  it('example:import: reads or lists every line, and completes the progress bar', async () => {
    const { stdout, stderr } = await runCommand('example:import', ['12']);
    expect(stdout).to.match(
      /^11 of 12 products read, worth 173\.50 euros; the first: \{"price":10\.5,.*\}\nline 9 was not read: invalid-output: .*price.*\n$/,
    );
    expect(stderr.match(/\[.+\] \d+\/12/g)).to.deep.equal(
      [3, 6, 9, 12].map((done) => `[${'#'.repeat(Math.round(done * 2.5)).padEnd(30, '.')}] ${done}/12`),
    );
  });

  it('example:tracing: prints the spans of a run, with the link of a late result', async () => {
    const { stdout } = await runCommand('example:tracing');
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

  it('example:chat: uses tool results in responses, and resumes after a disconnect', async () => {
    const { stdout } = await runCommand('example:chat');
    expect(stdout).to.match(
      /^> What is the weather in Lisbon\?\n.*Lisbon.*\(Simulated response\.\)\n> Thank you\. And the time\?\n.+\n\(disconnected after event [\w.~-]+; resuming with Last-Event-ID\)\n.+\(Simulated response\.\)\n$/,
    );
    const [before = '', after = ''] = stdout.split('And the time?\n')[1]?.split(/\n\(disconnected.*\)\n/) ?? [];
    expect(before + after, 'nothing is missing, nothing is there twice').to.match(
      /^get_time returned: “\d+\/\d+\/\d+, \d+:\d+:\d+ UTC”\. \(Simulated response\.\)\n$/,
    );
    expect(stdout).not.to.contain('ERROR');
  });

  it('example:nightly: saves every report', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'bolide-nightly-'));
    const { stdout } = await runCommand('example:nightly', ['--now', '2026-11-22'], { DATA_DIR: directory });
    expect(stdout).to.match(/^6 reports of 2026-11-22 are done, in \d+ model calls$/m);
    const saved = (await readFile(path.join(directory, 'reports.txt'), 'utf8')).trim().split('\n');
    expect(saved).to.have.length(6);
    await rm(directory, { recursive: true });
  });

  it('example:agent: chats with tools, on the vendor whose key is set', async () => {
    const simulator = await startSimulator();
    const env = { ANTHROPIC_API_KEY: 'a-key', ANTHROPIC_BASE_URL: simulator.baseURL('anthropic') };
    try {
      const { stdout } = await runCommand('example:agent', [], env);
      expect(stdout).to.match(/> What is the weather in Lisbon\?[^]*\[get_weather: .*clear.*\][^]*\d+ tokens/);
      expect(stdout).to.match(/> Research the topic tiny boats\.[^]*\[research_topic: .*12.*\][^]*\d+ tokens/);
      expect(simulator.requests.every(({ vendor }) => vendor === 'anthropic')).to.equal(true);
    } finally {
      await simulator.close();
    }
  });
});
