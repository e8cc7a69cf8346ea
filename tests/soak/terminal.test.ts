import { expect } from 'chai';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { VENDOR_VARIABLES } from '../../imports/host/settings/vendors';

const ROOT = join(__dirname, '../..');

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `scripts/ask.ts` as a user would, without any key. */
function runAsk(...args: readonly string[]): Promise<Ended> {
  return runAskWith({}, ...args);
}

function runAskWith(variables: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Ended> {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, ...variables };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['scripts/run.cjs', 'scripts/ask.ts', ...args],
      { cwd: ROOT, env, timeout: 60_000 },
      (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : error === null ? 0 : 1, stdout, stderr });
      },
    );
  });
}

describe('npm run ask', () => {
  for (const vendor of Object.keys(VENDOR_VARIABLES)) {
    it(`uses blocking and background tools on ${vendor}, and states that the response is simulated`, async () => {
      const { code, stdout, stderr } = await runAsk(
        'What is the weather in Lisbon, and research the topic tiny boats',
        '--provider',
        vendor,
        '--tools',
      );
      expect(code, stderr).to.equal(0);
      expect(stdout)
        .to.match(/research_topic/)
        .and.to.match(/simulated/i);
      expect(stderr).to.match(/SIMULATED/);
      expect(stderr).to.match(/→ get_weather\(\{"city":"Lisbon"\}\)\n/);
      expect(stderr).to.match(/→ research_topic\(.*\) in the background/);
      expect(stderr).to.match(/… research_topic 100 %/);
      expect(stderr).to.match(/↩ 1 late result/);
      expect(stderr).to.match(new RegExp(`— ${vendor} .* 3 model call\\(s\\) · 2 tool call\\(s\\) · \\d+ tokens in`));
    });
  }

  it('streams the response to standard output', async () => {
    const { code, stdout } = await runAsk('Hello there', '--stream', '--provider', 'google');
    expect(code).to.equal(0);
    expect(stdout.trim()).to.match(/simulated/i);
  });

  it('returns JSON for a schema from a file or inline, even on vendors without structured output', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'ask-')), 'schema.json');
    const schema = JSON.stringify({
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'integer' } },
      required: ['name', 'age'],
      additionalProperties: false,
    });
    writeFileSync(path, schema);
    const [fromFile, fromArgument] = await Promise.all(
      [
        [path, 'anthropic'],
        [schema, 'groq'],
      ].map(([source = '', vendor = '']) => runAsk('A person named Ada, 36', '--json', source, '--provider', vendor)),
    );
    for (const { code, stdout } of [fromFile!, fromArgument!]) {
      expect(code).to.equal(0);
      expect(JSON.parse(stdout)).to.have.keys(['name', 'age']);
    }
  });

  const mistakes: [string, string[], RegExp][] = [
    ['an unknown provider', ['hi', '--provider', 'acme'], /Unknown provider "acme".*openai/],
    ['an unknown option', ['hi', '--colour'], /--colour/],
    ['a missing schema file', ['hi', '--json', '/nowhere/schema.json'], /Cannot read the schema/],
    ['a schema that is not JSON', ['hi', '--json', '{bad'], /The schema is not valid JSON/],
    ['a missing question', [], /Usage/],
  ];
  for (const [what, args, pattern] of mistakes) {
    it(`reports ${what} without a stack trace`, async () => {
      const { code, stdout, stderr } = await runAsk(...args);
      expect(code).to.not.equal(0);
      expect(`${stdout}${stderr}`)
        .to.match(pattern)
        .and.not.to.match(/^\s+at /m);
    });
  }

  it('ends before it answers anything if the key of LLM_PROVIDER is missing', async () => {
    const { code, stdout, stderr } = await runAskWith({ LLM_PROVIDER: 'anthropic' }, 'Hello.');
    expect(code).to.equal(1);
    expect(stdout).to.equal('');
    expect(stderr).to.include('ANTHROPIC_API_KEY').and.not.to.include('SIMULATED');
  });

  describe('on a vendor that limits the rate', () => {
    const OPENAI_API_KEY = 'sk-canary0123456789abcdef';
    let simulator: Simulator;
    let ask: (variables?: Readonly<Record<string, string>>) => Promise<Ended>;
    beforeEach(async () => {
      simulator = await startSimulator();
      const body = { error: { message: `Too fast, ${OPENAI_API_KEY}.`, type: 'requests' } };
      simulator.enqueue({ status: 429, body }, { text: 'Hello.' });
      const vendor = { OPENAI_API_KEY, OPENAI_API_BASE: simulator.baseURL('openai') };
      ask = (variables = {}) => runAskWith({ ...vendor, ...variables }, '--model', 'gpt-5-mini', 'Hi');
    });
    afterEach(() => simulator.close());

    for (const variables of [{ LOG_LEVEL: 'debug' }, { DEBUG: 'other,bolide:*' }])
      it(`prints retries with ${JSON.stringify(variables)}`, async () => {
        const { stdout, stderr } = await ask(variables);
        expect(stdout).to.equal('Hello.\n');
        expect(stderr).to.match(/"openai" failed \(rate-limited/);
        expect(stderr).not.to.contain(OPENAI_API_KEY);
      });

    it('prints no retries by default', async () => {
      expect((await ask()).stderr).not.to.contain('rate-limited');
    });
  });
});

describe('the simulator from a terminal', () => {
  it('prints its URL first, and serves there', async () => {
    const main = join(ROOT, 'imports/simulator/main.ts');
    const child = spawn(process.execPath, ['--require', 'tsx/cjs', main, '--port', '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [output] = (await once(child.stdout, 'data')) as [Buffer];
      const url = output.toString().split('\n')[0] ?? '';
      expect(url).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
      expect((await fetch(`${url}/compatible/v1/models`)).status).to.equal(200);
    } finally {
      child.kill();
      await once(child, 'exit');
    }
  });
});
