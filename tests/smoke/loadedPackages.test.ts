/** Which packages a program loads when it imports Bolide and asks its first question: each is 1 to 240 files. */
import { execFile } from 'node:child_process';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';

const ROOT = join(__dirname, '../..');

/** Prints the packages after the import, and after a question to Gemini, which needs no SDK. */
const PROGRAM = `
  const { createAIModule, ToolRegistry } = require('./imports/entries/index.ts');
  const loaded = () => {
    const names = Object.keys(require.cache).map((file) => /.*node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(file)?.[1]);
    return [...new Set(names)].filter((name) => name !== undefined && !['tsx', 'esbuild'].includes(name)).sort();
  };
  async function main() {
    const imported = loaded();
    const parameters = { type: 'object', properties: { city: { type: 'string' } } };
    const tools = new ToolRegistry().register({ name: 'look', description: 'Looks.', parameters, execute: () => '' });
    const google = { id: 'google', vendor: 'google', apiKey: 'k', baseURL: 'http://127.0.0.1:1', allowPrivateHosts: true };
    const { manager } = createAIModule({ providers: [google] }, { tools });
    const ask = () =>
      manager.generate('u1', { model: 'google/gemini-2.5-flash', input: 'Hello' })
        .catch((error) => error.code);
    const code = await ask();
    const asked = loaded();
    console.log(JSON.stringify({ code, imported, asked }));
  }
  void main();
`;

/** @returns what the program printed, as JSON */
async function run(program: string): Promise<unknown> {
  const { stdout } = await promisify(execFile)(process.execPath, ['--require', 'tsx/cjs', '--eval', program], {
    cwd: ROOT,
    env: { ...process.env, TSX_TSCONFIG_PATH: 'tsconfig.node.json' },
  });
  return JSON.parse(stdout);
}

describe('the packages that a program loads', () => {
  it('are few and small while no schema, vendor or server needs more', async () => {
    const { code, imported, asked } = (await run(PROGRAM)) as Readonly<Record<string, readonly string[]>>;
    // The request was sent.
    expect(code).to.equal('connection-failed');
    expect(imported).to.deep.equal([
      'cors',
      'croner',
      'eventemitter3',
      'eventsource-parser',
      'ipaddr.js',
      'lru-cache',
      'object-assign',
      'p-limit',
      'valibot',
      'vary',
      'yocto-queue',
    ]);
    expect(asked).to.deep.equal(imported);
  });

  it('are not those of the simulator in a Meteor app that does not use it', async () => {
    const loaded = await run(`require('./imports/host/meteor/startBolide');
      console.log(JSON.stringify(Object.keys(require.cache).filter((name) => /simulat/i.test(name))));`);
    const names = (loaded as readonly string[]).map((file) => basename(file));
    expect(names.toSorted()).to.deep.equal(['simulateWithoutVendors.ts', 'simulation.ts']);
  });
});
