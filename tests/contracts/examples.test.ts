/** The examples run as they are, by hand's command, without a key. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { VENDOR_VARIABLES } from '../../imports/startup/settingsFromEnvironment';

const ROOT = path.join(__dirname, '../..');
const TSX = path.join(ROOT, 'node_modules/tsx/dist/cli.mjs');

/** @throws with both outputs when it ends with another code than 0 */
async function run(example: string, ...args: readonly string[]): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const vendors = Object.values(VENDOR_VARIABLES).flatMap((names) => Object.values(names).filter((name) => typeof name === 'string'));
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !vendors.includes(name) && !name.startsWith('LLM_')));
  return promisify(execFile)(process.execPath, [TSX, `examples/${example}.ts`, ...args], { cwd: ROOT, env, timeout: 100_000 });
}

describe('the examples', function () {
  this.timeout(120_000);

  it('simulation: everybody does something in every phase, and remembers it on themselves', async () => {
    const { stdout, stderr } = await run('simulation');
    expect(stderr).to.contain('SIMULATED');
    const [lines, json] = [stdout.slice(0, stdout.indexOf('[\n')).trim().split('\n'), stdout.slice(stdout.indexOf('[\n'))];
    expect(lines.map((line) => line.split(':')[0])).to.deep.equal(
      [1, 2].flatMap((day) => ['intention', 'action   '].flatMap((phase) => ['Ada', 'Bob', 'Eve'].map((name) => `day ${day} ${phase} ${name}`))),
    );
    for (const line of lines.filter((each) => each.includes('Eve'))) expect(line).to.contain('watches the harbour (model-not-found, so by habit)');
    const people = JSON.parse(json) as { _openai?: { intention_chain: string[]; action_chain: string[]; usage: { total_requests: number } } }[];
    expect(people.map(({ _openai }) => [_openai?.intention_chain.length, _openai?.action_chain.length, _openai?.usage.total_requests])).to.deep.equal([
      [2, 2, 4], [2, 2, 4], [undefined, undefined, undefined],
    ]);
  });

  it('import: every line becomes a record, and the bar fills', async () => {
    const { stdout, stderr } = await run('import', '12');
    expect(stdout).to.match(/^12 of 12 products read, worth .* euros; the first: \{"name":/);
    expect(stderr).to.contain(`[${'#'.repeat(30)}] 12/12`);
  });

  it('chat: a tool’s result reaches the answer, which ends', async () => {
    const { stdout } = await run('chat');
    expect(stdout).to.match(/^> What is the weather in Lisbon\?\n.*Lisbon.*\n> Thank you\. And the time\?\n.*\n$/);
    expect(stdout).not.to.contain('ERROR');
  });
});
