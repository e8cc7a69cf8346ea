/**
 * The programs of this repository's Meteor app, built by the rules of both bundlers, with the packages that a server
 * has: those that npm installs without development dependencies.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { build } from 'esbuild';
import ignore from 'ignore';
import { JSDOM, VirtualConsole } from 'jsdom';
import { buildServerClassically, bundleClientClassically } from '../support/meteorBuild/buildClassically';
import type { SwcConfiguration } from '../support/meteorBuild/compileWithSwc';
import { installOnce } from '../support/meteorBuild/installOnce';
import { copyProductionApp } from '../support/meteorBuild/productionApp';
import { reachableFiles } from '../support/meteorBuild/reachableFiles';
import { REPOSITORY } from '../support/meteorBuild/repository';
import { resolveClassically } from '../support/meteorBuild/resolveClassically';
import type { ServerAnswers } from '../support/meteorBuild/serverProgram';
import { until } from '../support/until';

const SERVER = 'server/main.ts';
const CLIENT = 'client/main.tsx';
const SUITES = ['tests/meteor/server.ts', 'tests/meteor/client.ts'];
/** What the compilers add to the programs. */
const COMPILED_IN = ['@babel/runtime/package.json', '@swc/helpers/package.json', 'meteor-node-stubs/package.json'];

const SUPPORT = path.join(REPOSITORY, 'tests/support/meteorBuild');
const run = promisify(execFile);
const swcrc = JSON.parse(readFileSync(path.join(REPOSITORY, '.swcrc'), 'utf8')) as SwcConfiguration;

describe("The Meteor app's packages", () => {
  let modules: string;
  before(async () => {
    modules = await installOnce(REPOSITORY);
  });

  for (const entry of [SERVER, CLIENT, ...SUITES])
    it(`are all in \`dependencies\` for ${entry}, lazy ones included`, () => {
      const { resolve } = createRequire(path.join(modules, 'app.js'));
      const isInstalled = (specifier: string): boolean => {
        if (resolveClassically(specifier, 'os', modules) !== undefined) return true;
        try {
          return resolve(specifier) !== '';
        } catch {
          return false;
        }
      };
      const imported = [...reachableFiles(entry).packages.keys(), ...COMPILED_IN];
      const packages = imported.filter((specifier) => !/^(node:|meteor\/)/.test(specifier));
      expect(packages.filter((specifier) => !isInstalled(specifier))).to.deep.equal([]);
    });
});

describe('.meteorignore', () => {
  for (const entry of [SERVER, CLIENT, ...SUITES])
    it(`ignores nothing that ${entry} imports`, () => {
      const ignored = ignore().add(readFileSync(path.join(REPOSITORY, '.meteorignore'), 'utf8'));
      expect(reachableFiles(entry).files.filter((file) => ignored.ignores(file))).to.deep.equal([]);
    });
});

describe('The Meteor app', () => {
  let app: string;
  before(async () => {
    app = await copyProductionApp();
  });
  after(() => rm(app, { recursive: true }));

  /** Bundles one side as `meteor build` does with Rspack, which leaves `meteor/*` and React to the classic bundler. */
  async function bundleWithRspack(side: 'client' | 'server'): Promise<string> {
    const env = { ...process.env, NODE_PATH: await installOnce(path.join(SUPPORT, 'rspack')) };
    await run(process.execPath, [path.join(SUPPORT, 'rspackChild.cjs'), side], { cwd: app, env });
    return path.join(app, '_build/main-prod');
  }

  async function answersOf(program: string, ...args: readonly string[]): Promise<ServerAnswers> {
    const harness = path.join(app, 'serverProgram.cjs');
    await build({
      entryPoints: [path.join(SUPPORT, 'serverProgram.ts')],
      bundle: true,
      platform: 'node',
      outfile: harness,
      tsconfig: path.join(REPOSITORY, 'tsconfig.node.json'),
    });
    const { stdout } = await run(process.execPath, [harness, program, ...args], { cwd: app });
    return JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as ServerAnswers;
  }

  const expectAnswers = ({ page, health, text }: ServerAnswers): void => {
    expect({ page, health }).to.deep.equal({ page: '200 text/html; charset=utf-8', health: 200 });
    expect(text).to.include('You wrote: “Hello!”');
  };

  it('serves its page, its routes and its methods when the classic bundler has built it', async () => {
    const compiled = path.join(app, 'compiled');
    expectAnswers(await answersOf(await buildServerClassically(SERVER, compiled, swcrc), compiled));
  });

  it('serves its page, its routes and its methods when Rspack has bundled it', async () => {
    expectAnswers(await answersOf(path.join(await bundleWithRspack('server'), 'server-rspack.js')));
  });

  it('shows the dashboard when the classic bundler has built it', async () => {
    const { script } = await bundleClientClassically(CLIENT, swcrc, path.join(app, 'node_modules'));
    expect(await headingOf(script)).to.equal('Sign in to Bolide');
  });

  it('shows the dashboard when Rspack has bundled it', async () => {
    const entry = path.join(await bundleWithRspack('client'), 'client-meteor.js');
    const { script } = await bundleClientClassically(entry, swcrc, path.join(app, 'node_modules'));
    expect(await headingOf(script)).to.equal('Sign in to Bolide');
  });
});

/** The heading of the page on which nobody is signed in, or what the page threw instead. */
async function headingOf(script: string): Promise<string> {
  // Nothing would ever appear.
  if (!script.includes('Sign in to Bolide')) return 'The script has no dashboard.';
  const errors: string[] = [];
  const virtualConsole = new VirtualConsole();
  virtualConsole.on('jsdomError', ({ message }) => errors.push(message));
  const { window } = new JSDOM('<!doctype html><html><body><div id="app"></div></body></html>', {
    url: 'http://localhost:3000/',
    runScripts: 'outside-only',
    pretendToBeVisual: true,
    virtualConsole,
  });
  Object.assign(window, {
    __meteor_runtime_config__: { ROOT_URL: 'http://localhost:3000' },
    openDdpSocket: () => ({ send: () => undefined, close: () => undefined }),
    matchMedia: () => ({ matches: false, addEventListener: () => undefined, removeEventListener: () => undefined }),
    TextEncoder,
    FontFace: function FontFace() {},
  });
  Object.assign(window.document, { fonts: new Set() });
  try {
    window.eval(script);
    const heading = (): string => window.document.querySelector('#app h1')?.textContent ?? errors.join('\n');
    await until(() => heading() !== '');
    return heading();
  } finally {
    window.close();
  }
}
