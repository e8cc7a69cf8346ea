/** What `bolide` prints and starts. Its commands: dataCommand.test.ts, runsCommand.test.ts and mcpStdio.test.ts. */
import { expect } from 'chai';
import { packageManifest } from '../../scripts/package/packageManifest';
import { runBolide } from '../support/runBolide';

interface Outcome {
  readonly code: number;
  readonly output: string;
  readonly errors: string;
  readonly started: readonly string[];
}

async function run(...args: readonly string[]): Promise<Outcome> {
  const errors: string[] = [];
  const started: string[] = [];
  const { code, output } = await runBolide(args, {
    printError: (line) => void errors.push(line),
    serve: () => Promise.resolve(void started.push('server')),
    serveMcp: () => Promise.resolve(void started.push('mcp')),
  });
  return { code, output, errors: errors.join('\n'), started };
}

describe('The command line', () => {
  it('starts a server: without a command, too', async () => {
    const quiet = { code: 0, output: '', errors: '' };
    expect(await run()).to.deep.equal({ ...quiet, started: ['server'] });
    expect(await run('serve')).to.deep.equal({ ...quiet, started: ['server'] });
    expect(await run('mcp')).to.deep.equal({ ...quiet, started: ['mcp'] });
  });

  for (const [words, expected] of [
    ['--help', ['serve', 'runs', 'data', 'mcp', 'DATA_DIR', 'docs/reference/configuration.md', 'Exit codes']],
    ['serve --help', ['PORT, HOST', 'BOLIDE_API_TOKEN']],
    ['mcp --help', ['MCP_TOOLS']],
    ['runs --help', ['list', 'review', '--url <url>', '--stuck', '--outcome <outcome>', 'BOLIDE_API_TOKEN']],
    ['runs show --help', ['--json', 'Exit codes']],
    ['data --help', ['check', 'backup', 'import', '--dir <directory>', '--overwrite', '--accept-loss']],
    ['help data', ['restore']],
    ['--version', [packageManifest().version]],
    ['runs list --version', [packageManifest().version]],
  ] as const)
    it(`starts nothing for ${words}, and prints it`, async () => {
      const { output, ...rest } = await run(...words.split(' '));
      expect(rest).to.deep.equal({ code: 0, errors: '', started: [] });
      for (const each of expected) expect(output).to.include(each);
    });

  for (const [words, suggestion, help] of [
    ['rnus', 'Did you mean runs?', 'bolide --help'],
    ['--hepl', 'Did you mean --help?', 'bolide --help'],
    ['--prot 3000', 'settings are environment variables', 'bolide --help'],
    ['serve 3000', 'too many arguments', 'bolide --help'],
    ['mcp --help-me', "unknown option '--help-me'", 'bolide --help'],
    ['runs', 'Options of list:', 'Usage: bolide runs'],
    ['runs lst', 'Did you mean list?', 'bolide runs --help'],
    ['runs show', "missing required argument 'run'", 'bolide runs --help'],
    ['runs list --jsno', 'Did you mean --json?', 'bolide runs --help'],
    ['runs review r --outcome aprove', 'Allowed choices are approve', 'bolide runs --help'],
    ['data --overwite', "unknown option '--overwite'", 'bolide data --help'],
    ['data restore x --overwite', 'Did you mean --overwrite?', 'bolide data --help'],
  ] as const)
    it(`starts nothing for ${words}, and says what is right`, async () => {
      const { errors, ...rest } = await run(...words.split(' '));
      expect(rest).to.deep.equal({ code: 2, output: '', started: [] });
      expect(errors).to.include(suggestion).and.include(help);
    });
});
