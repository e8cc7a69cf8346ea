/** The shell commands in the documentation do what it says. */
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { RunningServer } from '../../imports/host/node/startServer';
import { codeBlocksOf, readPage, readPages, ROOT } from '../support/docs/markdown';
import { errorIn, isShell, npmCommandsOf, runShell, scriptOf } from '../support/docs/shell';
import { startDemoServer } from '../support/startDemoServer';

/** Where a reader's server listens, in every example. */
const BASE = 'http://127.0.0.1:3000';

describe('The documentation', () => {
  let directory: string;
  /** Where commands write their files, with the packages that the documentation installs. */
  let shell: string;
  let server: RunningServer;

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-docs-'));
    shell = join(directory, 'shell');
    await mkdir(shell);
    await symlink(join(ROOT, 'node_modules'), join(shell, 'node_modules'));
    server = await startDemoServer({ PORT: '0', DATA_DIR: join(directory, 'server'), MCP_TOOLS: '*' });
  });

  after(async () => {
    await server.close();
    await rm(directory, { recursive: true, force: true });
  });

  const scripts = readPages()
    .flatMap(codeBlocksOf)
    .filter((each) => isShell(each) && each.notRun === undefined && scriptOf(each) !== '')
    .map((block) => ({ at: block.at, script: scriptOf(block) }));
  for (const { at, script } of scripts) {
    it(`runs the commands at ${at}`, async () => {
      const { code, stdout, stderr } = await runShell(script.replaceAll(BASE, server.url), {
        env: { BASE: server.url, TOKEN: server.token },
        cwd: shell,
      });
      expect(code, stderr + stdout).to.equal(0);
      expect(errorIn(stdout), stdout).to.equal(undefined);
    });
  }

  it('answers from the terminal as the quick start shows', async () => {
    const commands = codeBlocksOf(readPage('docs/quick-start.md'))
      .filter(isShell)
      .flatMap(npmCommandsOf)
      .filter((command) => command.startsWith('run ask -- '));
    expect(commands).not.to.have.length(0);
    const results = await Promise.all(
      commands
        .slice(0, 1)
        .map((command) => runShell(`node scripts/run.cjs scripts/ask.ts ${command.slice('run ask -- '.length)}`)),
    );
    for (const { code, stdout, stderr } of results) expect(code, stdout + stderr).to.equal(0);
  });
});
