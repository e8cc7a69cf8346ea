/** The npm package: packed, checked, and installed in an empty app that starts its server. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { ENTRIES } from '../../scripts/package/entries';
import { packageManifest } from '../../scripts/package/packageManifest';
import { ConsumerApp } from '../support/package/ConsumerApp';
import { installNode } from '../support/package/installNode';
import { unpackPackage } from '../support/package/packPackage';
import type { PackedPackage } from '../support/package/packPackage';
import { failure } from '../support/failure';
import { userEnvironment } from '../support/runCommand';

const ROOT = join(__dirname, '../..');
const manifest = packageManifest();
const TOKEN = 'the-token-of-the-consumer';

describe('The npm package', () => {
  let parent: string;

  before(async () => {
    parent = await mkdtemp(join(tmpdir(), 'bolide-package-'));
  });
  after(() => rm(parent, { recursive: true }));

  let packed: PackedPackage;

  it('passes its checks', async () => {
    // Packs it, too. It rejects with what was printed if a check fails.
    await promisify(execFile)('npm', ['run', 'check:package'], { cwd: ROOT, maxBuffer: 16 * 1024 * 1024 });
    packed = await unpackPackage(join(ROOT, `build/bolide-${manifest.version}.tgz`), parent);
  });

  it('is loaded by `import`, by `require` and by its path on the oldest supported Node, without a warning', async () => {
    const node = await installNode(`${manifest.engines.node.replace('>=', '')}.0`);
    const app = await ConsumerApp.create(parent, packed, ['react', 'react-dom', 'vue']);
    const specifiers = Object.keys(ENTRIES).map((name) => (name === 'index' ? 'bolide' : `bolide/${name}`));
    // A module with a top-level `await` could not be required.
    const program = `
      const names = (entry) => Object.keys(entry).filter((name) => name !== 'default').sort().join();
      Promise.all(${JSON.stringify(specifiers)}.map(async (specifier) => {
        const ways = [require(specifier), require('./node_modules/' + specifier), await import(specifier)].map(names);
        return new Set(ways).size === 1 && ways[0] !== '';
      })).then((same) => console.log(process.version, same.every(Boolean)));`;
    await app.write('load.cjs', program);
    const { stdout, stderr } = await promisify(execFile)(node, ['load.cjs'], { cwd: app.directory });
    expect(stderr).to.equal('');
    expect(stdout).to.match(new RegExp(`^v${manifest.engines.node.replace('>=', '')}\\.0 true`));
  });

  it('says which Node its entries for servers need on an older one', async () => {
    const app = await ConsumerApp.create(parent, packed, []);
    const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.19.0' } });`;
    const program = `${old}
      Promise.allSettled(['', '/core', '/node', '/meteor', '/ai-sdk', '/testing'].map((entry) => import('bolide' + entry)))
        .then((all) => console.log(new Set(all.map(({ reason }) => reason?.message))));`;
    await app.write('old.cjs', program);
    const { stdout } = await promisify(execFile)(process.execPath, ['old.cjs'], { cwd: app.directory });
    expect(stdout).to.match(/^Set\(1\) \{\s+'Bolide requires Node.js 22.13 or newer, but this is 20.19.0. /);
  });

  it('is installed beside older and newer versions of its peers', async () => {
    const app = await mkdtemp(join(parent, 'peers-'));
    await writeFile(join(app, 'package.json'), '{ "private": true }');
    const tarball = join(ROOT, `build/bolide-${manifest.version}.tgz`);
    const peers = [
      'openai@6',
      'ai@6',
      '@anthropic-ai/sdk@0',
      '@google/genai@2',
      'mongodb@7',
      'agenda@6',
      '@agendajs/mongo-backend',
    ];
    // npm resolves the versions and downloads nothing else. It rejects if they conflict.
    await promisify(execFile)('npm', ['install', '--package-lock-only', '--no-audit', tarball, ...peers], { cwd: app });
  });

  it('has a command line, which starts nothing for `--help` and typos on the oldest supported Node', async () => {
    const node = await installNode(`${manifest.engines.node.replace('>=', '')}.0`);
    const app = await ConsumerApp.create(parent, packed);
    const bolide = (word: string): Promise<object> =>
      promisify(execFile)(node, ['node_modules/bolide/bin/bolide.mjs', word], { cwd: app.directory });
    expect(await bolide('--version')).to.deep.equal({ stdout: `${manifest.version}\n`, stderr: '' });
    expect(await bolide('--help'))
      .to.have.property('stdout')
      .that.matches(/^Usage: bolide/);
    const refused = await failure(bolide('rnus'));
    expect(refused).to.include({ code: 2, stdout: '' });
    expect(refused).to.have.property('stderr').that.includes('Did you mean runs?');
  });

  it('runs a server with its dashboard in an app', async () => {
    const app = await ConsumerApp.create(parent, packed);
    const child = spawn(process.execPath, ['node_modules/bolide/bin/bolide.mjs'], {
      cwd: app.directory,
      env: { ...userEnvironment(), PORT: '0', BOLIDE_API_TOKEN: TOKEN },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    try {
      let url = '';
      for await (const line of createInterface(child.stdout)) {
        url = /ready at (\S+)/.exec(line)?.[1] ?? '';
        if (url !== '') break;
      }
      const answer = await fetch(`${url}/v1/responses`, {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'google/gemini-2.5-flash', input: 'Hello' }),
      });
      expect(answer.status).to.equal(200);
      // In files of their own.
      const headers = { authorization: `Bearer ${TOKEN}` };
      expect(await (await fetch(`${url}/metrics`, { headers })).text()).to.include('# TYPE bolide_');
      const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/responses`, { headers });
      await once(socket, 'open');
      socket.terminate();
      const page = await (await fetch(url)).text();
      const files = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, file]) => file);
      expect(files).not.to.have.length(0);
      for (const file of files) expect((await fetch(`${url}${file}`)).status, file).to.equal(200);
    } finally {
      child.kill('SIGTERM');
    }
    expect(await exited).to.deep.equal([0, null]);
    // The next start compiles nothing.
    const compiled = await readdir(join(app.directory, 'node_modules/.cache/bolide'), { recursive: true });
    expect(compiled).to.have.length.greaterThan(30);
  });
});
