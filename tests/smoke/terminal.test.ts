import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VENDOR_VARIABLES } from '../../imports/startup/settings/vendors';
import { IS_SOAK, itInSoak } from '../support/soak';

const ROOT = join(__dirname, '../..');

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `scripts/ask.ts` as a user would, without any key. */
function runAsk(...args: readonly string[]): Promise<Ended> {
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME };
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
  const vendors = IS_SOAK ? Object.keys(VENDOR_VARIABLES) : ['openai'];
  for (const vendor of vendors) {
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

  itInSoak('returns JSON for a schema from a file or inline, even on vendors without structured output', async () => {
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
  for (const [what, args, pattern] of IS_SOAK ? mistakes : mistakes.slice(0, 1)) {
    it(`reports ${what} without a stack trace`, async () => {
      const { code, stdout, stderr } = await runAsk(...args);
      expect(code).to.not.equal(0);
      expect(`${stdout}${stderr}`)
        .to.match(pattern)
        .and.not.to.match(/^\s+at /m);
    });
  }
});
