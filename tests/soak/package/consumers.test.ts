/**
 * What an app experiences that installs the npm package: nothing is there but the package and what it declares.
 * tests/smoke/package.test.ts runs the server of `npx bolide`.
 */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { Script } from 'node:vm';
import { expect } from 'chai';
import ts from 'typescript';
import { ENTRIES } from '../../../scripts/package/entries';
import { isInlined } from '../../../scripts/package/inlinedPackages';
import { BROWSER_ARCHES } from '../../support/meteorBuild/MeteorArch';
import type { MeteorArch } from '../../support/meteorBuild/MeteorArch';
import { resolveClassically } from '../../support/meteorBuild/resolveClassically';
import { ConsumerApp } from '../../support/package/ConsumerApp';
import { packPackage } from '../../support/package/packPackage';
import type { PackedPackage } from '../../support/package/packPackage';

const ROOT = join(__dirname, '../../..');
const MEGABYTE = 1_000_000;
const SPECIFIERS = Object.keys(ENTRIES).map((name) => (name === 'index' ? 'bolide' : `bolide/${name}`));
const REACT = ['react', 'react-dom'];
const ALL_PEERS = [...REACT, 'vue', '@types/react', '@types/react-dom', 'openai', '@anthropic-ai/sdk'];
/** In the order of their first requests below. */
const VENDORS = ['google', 'openai', 'grok', 'anthropic', 'groq'] as const;
const MODELS: Readonly<Record<(typeof VENDORS)[number], string>> = {
  google: 'gemini-2.5-flash',
  openai: 'gpt-5.4-mini',
  grok: 'grok-4-3',
  anthropic: 'claude-sonnet-5-5',
  groq: 'openai/gpt-oss-120b',
};

/** Both formats print the sorted names of their exports. */
const PRINT = 'console.log(JSON.stringify(Object.keys(entry).filter((name) => name !== "default").sort()));';

describe('The npm package', () => {
  let parent: string;
  let packed: PackedPackage;
  /** Without any optional package. */
  let bare: ConsumerApp;
  let app: ConsumerApp;

  before(async () => {
    // TypeScript reports real paths.
    parent = await realpath(await mkdtemp(join(tmpdir(), 'bolide-package-')));
    packed = await packPackage(parent);
    bare = await ConsumerApp.create(parent, packed, ['@types/node']);
    app = await ConsumerApp.create(parent, packed, [
      '@types/node',
      ...ALL_PEERS,
      'svelte',
      'mongodb',
      '@ai-sdk/provider',
    ]);
  });

  after(() => rm(parent, { recursive: true, force: true }));

  it('contains what a user needs, in a bounded size', () => {
    const { files, packedSize, unpackedSize } = packed;
    console.log(
      `      ${files.length} files, ${(packedSize / MEGABYTE).toFixed(1)} MB packed, ${(unpackedSize / MEGABYTE).toFixed(1)} MB unpacked`,
    );
    expect(packedSize).to.be.below(2.65 * MEGABYTE);
    expect(unpackedSize).to.be.below(10 * MEGABYTE);
    const folders = new Set(files.map((file) => (file.includes('/') ? file.slice(0, file.indexOf('/')) : file)));
    const subpaths = Object.keys(ENTRIES).filter((name) => name !== 'index');
    const roots = ['LICENSE', 'README.md', 'bin', 'dist', 'index.cjs', 'package.json', 'sbom.cdx.json', ...subpaths];
    // Types alone.
    expect([...folders]).to.have.members([...roots, 'meteor-methods']);
    expect(files).to.include('dist/LICENSES.txt');
    expect(files.filter((file) => /\.map$|\.tsx?$/.test(file) && !file.endsWith('.d.ts'))).to.deep.equal([]);
  });

  it('marks every peer as optional', () => {
    const { peerDependencies, peerDependenciesMeta } = packed.manifest;
    expect(Object.keys(peerDependenciesMeta)).to.have.members(Object.keys(peerDependencies));
    expect(Object.values(peerDependenciesMeta).every(({ optional }) => optional)).to.equal(true);
  });

  it('imports its dependencies, its peers and Node, and nothing else', async () => {
    const { dependencies, peerDependencies } = packed.manifest;
    const declared = [...Object.keys(dependencies), ...Object.keys(peerDependencies)];
    const imported = new Map<string, string>();
    for (const file of packed.files.filter((name) => /^(?!dist\/dashboard\/).*\.[cm]?js$/.test(name))) {
      const { importedFiles } = ts.preProcessFile(await readFile(join(packed.directory, file), 'utf8'), true, true);
      for (const { fileName } of importedFiles) imported.set(fileName, file);
    }
    const undeclared = [...imported].filter(
      ([specifier]) =>
        !specifier.startsWith('.') &&
        // Acorn has messages about `import`.
        !/\s/.test(specifier) &&
        !isBuiltin(specifier) &&
        // Ajv can generate programs that import it.
        !isInlined(specifier) &&
        !declared.some((name) => specifier === name || specifier.startsWith(`${name}/`)),
    );
    expect(undeclared).to.deep.equal([]);
    // What is not imported need not be installed.
    const unused = Object.keys(dependencies).filter(
      (name) => ![...imported.keys()].some((specifier) => specifier === name || specifier.startsWith(`${name}/`)),
    );
    expect(unused).to.deep.equal([]);
  });

  for (const specifier of SPECIFIERS)
    it(`exports the same from ${specifier} as an ES module, as CommonJS and by its path`, async () => {
      const using = ['bolide/react', 'bolide/vue'].includes(specifier) ? app : bare;
      const byPath = `./node_modules/${specifier}`;
      const [module, common, path] = await Promise.all([
        using.run(`${slug(specifier)}.mjs`, `import * as entry from '${specifier}'; ${PRINT}`),
        using.run(`${slug(specifier)}.cjs`, `const entry = require('${specifier}'); ${PRINT}`),
        // Bundlers that ignore `exports` find a folder with a package.json.
        using.run(`${slug(specifier)}-path.cjs`, `const entry = require('${byPath}'); ${PRINT}`),
      ]);
      expect(module.stderr + common.stderr + path.stderr).to.equal('');
      expect(JSON.parse(module.stdout)).not.to.have.length(0);
      expect(common.stdout).to.equal(module.stdout);
      expect(path.stdout).to.equal(module.stdout);
    });

  describe("Meteor's classic bundler", () => {
    const fileOf = (specifier: string, arch: MeteorArch): string =>
      resolveClassically(specifier, arch, join(bare.directory, 'node_modules')) ?? '';

    for (const arch of BROWSER_ARCHES)
      it(`finds scripts without imports for ${arch}, which it need not compile`, async () => {
        const files = ['react', 'svelte', 'vue', 'element', 'meteor-client'].map((name) =>
          fileOf(`bolide/${name}`, arch),
        );
        const foreign = new Map<string, Set<string>>();
        // Files that are found while it goes on are visited, too.
        const visited = new Set(files);
        for (const file of visited) {
          const code = await readFile(file, 'utf8');
          expect(() => new Script(code)).not.to.throw();
          expect(code).not.to.match(/\bimport\b(?:["'{(*]| [^a-z]*from)|\brequire\([^"]/);
          for (const [, name = ''] of code.matchAll(/\brequire\("([^"]+)"\)/g))
            if (name.startsWith('.')) visited.add(join(dirname(file), name));
            else foreign.set(file, (foreign.get(file) ?? new Set()).add(name));
        }
        expect([...foreign].map(([file, names]) => [basename(dirname(file)), [...names].sort()])).to.deep.equal([
          ['react', ['react', 'react-dom', 'react-dom/client', 'react/jsx-runtime']],
          ['vue', ['vue']],
        ]);
        expect(fileOf('bolide/react/styles.css', arch)).to.match(/styles\.css$/);
      });

    it("leaves the server's files to Node, by their extension", () => {
      for (const specifier of SPECIFIERS) expect(fileOf(specifier, 'os')).to.match(/\.cjs$/);
    });
  });

  describe('types', () => {
    const { ModuleKind, ModuleResolutionKind } = ts;
    const NODE_NEXT = { module: ModuleKind.NodeNext, moduleResolution: ModuleResolutionKind.NodeNext };
    const MODES: readonly (readonly [name: string, file: string, options: ts.CompilerOptions])[] = [
      ['NodeNext, as an ES module', 'program.mts', NODE_NEXT],
      ['NodeNext, as CommonJS', 'program.cts', NODE_NEXT],
      ['Bundler', 'program.ts', { module: ModuleKind.ESNext, moduleResolution: ModuleResolutionKind.Bundler }],
      ['Node10', 'program10.ts', { module: ModuleKind.CommonJS, moduleResolution: ModuleResolutionKind.Node10 }],
    ];
    for (const [name, file, options] of MODES) {
      it(`check with every declaration, without any optional package: ${name}`, async () => {
        const imports = SPECIFIERS.map((specifier, index) => `import * as entry${index} from '${specifier}';`);
        const uses = SPECIFIERS.map((_, index) => `console.log(entry${index});`);
        expect(await bare.typeErrors(file, [...imports, ...uses, PROGRAM].join('\n'), options)).to.deep.equal([]);
      });

      it(`refuse wrong arguments: ${name}`, async () => {
        const errors = await bare.typeErrors(`wrong-${file}`, PROGRAM.replace('city.length', 'city.size'), options);
        expect(errors).to.have.length(1);
        expect(errors[0]).to.include('size');
      });
    }

    it("are those of the vendors' SDKs and of React where these are installed", async () => {
      const [, file, options] = MODES[0]!;
      const code = `
        import { OpenAIChatAdapter } from 'bolide';
        import { Dashboard } from 'bolide/react';
        type IsAny<T> = 0 extends 1 & T ? true : false;
        type Call = Parameters<OpenAIChatAdapter['getToolCalls']>[0];
        export const isAny: [IsAny<Call>, IsAny<ReturnType<typeof Dashboard>>] = [false, false];`;
      expect(await app.typeErrors(`sdk-${file}`, code, options)).to.deep.equal([]);
    });
  });

  describe("the types of the guides' chats", () => {
    const CHECKS = {
      'svelte/Chat.svelte': ['svelte-check/bin/svelte-check', '--tsconfig', 'chats.json', '--output', 'machine'],
      'vue/Chat.vue': ['vue-tsc/bin/vue-tsc.js', '--noEmit', '-p', 'chats.json'],
      'react/Chat.tsx': ['typescript/bin/tsc', '--noEmit', '-p', 'chats.json'],
    };
    for (const [file, [checker = '', ...args]] of Object.entries(CHECKS))
      it(`are checked by ${checker.replace(/\/.*/, '')}, which refuses a wrong name`, async () => {
        const framework = dirname(file);
        await cp(join(ROOT, 'examples/clients', framework), join(app.directory, framework), { recursive: true });
        const compilerOptions = {
          strict: true,
          target: 'ES2022',
          module: 'ESNext',
          moduleResolution: 'bundler',
          lib: ['ES2023', 'DOM', 'DOM.Iterable', 'DOM.AsyncIterable'],
          jsx: 'react-jsx',
          types: [],
          verbatimModuleSyntax: true,
        };
        await app.write('chats.json', JSON.stringify({ compilerOptions, include: [framework] }));
        const check = () => app.execute([join(ROOT, 'node_modules', checker), ...args]);
        expect(await check()).to.include({ code: 0 });
        const chat = await readFile(join(app.directory, file), 'utf8');
        await app.write(file, chat.replace('useConversation(', 'useConversations(').replace('.messages', '.mesages'));
        const refused = await check();
        expect(refused.code).to.be.oneOf([1, 2]);
        expect(refused.stdout).to.match(/mesages|useConversations/);
      });
  });

  describe('an app', () => {
    for (const [format, load] of [
      ['mjs', (names: string, from: string) => `import { ${names} } from '${from}';`],
      ['cjs', (names: string, from: string) => `const { ${names} } = require('${from}');`],
    ] as const)
      it(`runs an agent with a tool against the simulator: ${format}`, async () => {
        const { code, stdout, stderr } = await app.run(
          `agent.${format}`,
          `${load('AgenticLoop, createProvider, ToolRegistry', 'bolide')}
           ${load('startSimulator', 'bolide/testing')}
           async function main() {
             const simulator = await startSimulator();
             simulator.enqueue({ calls: [{ name: 'double', arguments: { number: 21 } }] }, { text: 'It is 42.' });
             const tools = new ToolRegistry().register({
               name: 'double',
               description: 'Doubles a number.',
               parameters: { type: 'object', properties: { number: { type: 'number' } }, required: ['number'] },
               execute: ({ number }) => number * 2,
             });
             const provider = createProvider({
               vendor: 'openai', apiKey: 'simulated', baseURL: simulator.baseURL('openai'), allowPrivateHosts: true,
             });
             const loop = new AgenticLoop({ provider, toolExecutor: tools });
             const { response, toolCalls } = await loop.execute('u1', {
               input: 'Double 21.', tools: tools.tools, model: 'gpt-5.4-mini',
             });
             console.log(JSON.stringify([toolCalls[0].result, response.output_text]));
             await loop.close();
             await simulator.close();
           }
           main();`,
        );
        expect(stderr).to.equal('');
        expect(code).to.equal(0);
        expect(JSON.parse(stdout)).to.deep.equal(['42', 'It is 42.']);
      });

    for (const format of ['mjs', 'cjs'] as const)
      it(`checks the schemas of strangers in threads, which do not keep a program running: ${format}`, async () => {
        const load = (names: string, from: string): string =>
          format === 'mjs' ? `import { ${names} } from '${from}';` : `const { ${names} } = require('${from}');`;
        const { code, stdout, stderr } = await bare.run(
          `threads.${format}`,
          `${load('AgenticLoop, ToolRegistry', 'bolide')}
           ${load('ScriptedProvider, answer, calling', 'bolide/testing')}
           const provider = new ScriptedProvider([
             calling({ name: 'pick', arguments: { text: 'a'.repeat(60) + '!' } }), answer('Done.'),
           ]);
           const loop = new AgenticLoop({ provider, toolExecutor: new ToolRegistry() });
           const parameters = { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } } };
           const pick = { type: 'function', name: 'pick', kind: 'external', untrusted: true, parameters };
           loop.execute('u1', { input: 'Pick.', model: 'm', tools: [pick] })
             .then(({ toolCalls }) => console.log(toolCalls[0].error.failure));`,
        );
        expect(stderr).to.equal('');
        expect(code).to.equal(0);
        expect(stdout.trim()).to.equal('invalid-arguments');
      });

    it('has one copy of the package in a process, however it is loaded', async () => {
      const { stdout, stderr } = await bare.run(
        'both.mjs',
        `import { createRequire } from 'node:module';
         import * as module from 'bolide';
         const require = createRequire(import.meta.url);
         const common = require('bolide');
         // Meteor's classic bundler finds the package by this path.
         const byPath = require('./node_modules/bolide/index.cjs');
         console.log(JSON.stringify([
           module.LLMError === common.LLMError,
           module.LLMError === byPath.LLMError,
           module.isLLMError(new common.LLMAuthError('no')),
           module.isLLMError(new Error('no')),
         ]));`,
      );
      expect(stderr).to.equal('');
      expect(JSON.parse(stdout)).to.deep.equal([true, true, true, false]);
    });

    for (const format of ['mjs', 'cjs'] as const)
      it(`starts a server with its dashboard: ${format}`, async () => {
        const load =
          format === 'mjs'
            ? "import { startServer } from 'bolide/node';"
            : "const { startServer } = require('bolide/node');";
        const { stdout, stderr } = await app.run(
          `server.${format}`,
          `${load}
           startServer({ env: { PORT: '0', DATA_DIR: 'data-${format}' } }).then(async (server) => {
             const page = await (await fetch(server.url)).text();
             const files = [...page.matchAll(/(?:src|href)="(\\/[^"]+)"/g)].map((match) => match[1]);
             const statuses = await Promise.all(files.map(async (file) => (await fetch(server.url + file)).status));
             const health = await fetch(server.url + '/health');
             console.log(JSON.stringify({ files: files.length, statuses: [...new Set(statuses)], health: health.status }));
             await server.close();
           });`,
        );
        expect(stderr).to.equal('');
        expect(JSON.parse(stdout)).to.deep.equal({ files: 6, statuses: [200], health: 200 });
      });

    it('looks after the embedded database with `npx bolide data`', async () => {
      const command = (...args: readonly string[]): Promise<{ readonly code: unknown; readonly output: string }> =>
        new Promise((resolve) => {
          const file = 'node_modules/bolide/bin/bolide.mjs';
          execFile(process.execPath, [file, 'data', ...args], { cwd: bare.directory }, (error, stdout, stderr) =>
            resolve({ code: error?.code ?? 0, output: stdout + stderr }),
          );
        });
      await writeFile(join(bare.directory, 'rows.nedb'), '{"_id":"a"}\n');
      const imported = await command('import', '--dir', '.');
      expect(imported.output).to.include('1 documents are imported');
      expect(imported.code).to.equal(0);
      const checked = await command('check', '--dir', '.');
      expect(checked.output).to.equal(`rows: 1 documents\n${bare.directory}: nothing is damaged.\n`);
      expect(checked.code).to.equal(0);
      expect((await command('unknown')).code).to.equal(2);
    });
  });

  describe('an app without any other package but the one that it shares with its SDK of OpenTelemetry', () => {
    let lone: ConsumerApp;

    before(async () => {
      lone = await ConsumerApp.create(parent, { ...packed, manifest: { ...packed.manifest, dependencies: {} } }, [
        '@opentelemetry/api',
      ]);
    });

    for (const format of ['mjs', 'cjs'] as const)
      it(`imports bolide and asks each vendor: ${format}`, async () => {
        const { stdout, stderr } = await lone.run(
          `vendors.${format}`,
          `${format === 'mjs' ? "import { createProvider } from 'bolide'; import { startSimulator } from 'bolide/testing';" : "const { createProvider } = require('bolide'); const { startSimulator } = require('bolide/testing');"}
           async function main() {
             const simulator = await startSimulator();
             const texts = [];
             for (const vendor of ${JSON.stringify(VENDORS)}) {
               simulator.enqueue({ text: vendor });
               const provider = createProvider({
                 vendor, apiKey: 'k', baseURL: simulator.baseURL(vendor), allowPrivateHosts: true,
               });
               const { output_text } = await provider.generate('u1', { model: ${JSON.stringify(MODELS)}[vendor], input: 'Hello' });
               texts.push(output_text);
             }
             console.log(JSON.stringify(texts));
             await simulator.close();
           }
           main();`,
        );
        expect(stderr).to.equal('');
        expect(JSON.parse(stdout)).to.deep.equal(VENDORS);
      });

    it('loads the SDK of a vendor with the first request that needs it', async () => {
      const { stdout, stderr } = await lone.run(
        'loaded.cjs',
        `const { Session } = require('node:inspector');
         const parsed = [];
         const session = new Session();
         session.connect();
         session.on('Debugger.scriptParsed', ({ params }) => parsed.push(params.url));
         session.post('Debugger.enable');
         const added = () => parsed.splice(0).filter((url) => url.includes('/node_modules/'));
         added();
         const { createProvider } = require('bolide');
         const loaded = added();
         const isShared = (file) => /@opentelemetry.api/.test(file);
         async function main() {
           const files = [];
           for (const vendor of ${JSON.stringify(VENDORS)}) {
             const provider = createProvider({
               vendor, apiKey: 'k', baseURL: 'http://127.0.0.1:1', allowPrivateHosts: true,
             });
             await provider.generate('u1', { model: ${JSON.stringify(MODELS)}[vendor], input: 'Hello' }).catch(() => undefined);
             files.push(added().length);
           }
           console.log(JSON.stringify({ sdks: files.map((count) => count > 0), own: loaded.filter((file) => !isShared(file)).length, shared: loaded.filter(isShared).length }));
         }
         main();`,
      );
      expect(stderr).to.equal('');
      const { sdks, own, shared } = JSON.parse(stdout) as { sdks: boolean[]; own: number; shared: number };
      // Gemini needs none, and Grok has OpenAI's.
      expect(sdks).to.deep.equal([false, true, false, true, true]);
      expect(own).to.be.below(30);
      // The app has no SDK that Bolide would report to.
      expect(shared).to.equal(0);
    });
  });

  describe("the vendors' SDKs", () => {
    const SDKS = ['openai', '@anthropic-ai/sdk'] as const;
    const bundled = SDKS.map((name) => versionOf(name));

    /** The versions that requests report, in an app that has the SDKs in some versions. */
    async function reportedVersions(installed: readonly string[], isBroken = false): Promise<unknown> {
      // What Anthropic's SDK imports.
      const consumer = await ConsumerApp.create(parent, packed, ['standardwebhooks']);
      for (const [index, version] of installed.entries()) {
        const folder = join('node_modules', SDKS[index] ?? '');
        await cp(join(ROOT, folder), join(consumer.directory, folder), {
          recursive: true,
          dereference: true,
          filter: (file) => !/\.(?:ts|mts|map)$|\/src$/.test(file),
        });
        await consumer.write(join(folder, 'version.mjs'), `export const VERSION = '${version}';`);
        if (isBroken) await consumer.write(join(folder, 'index.mjs'), "throw new Error('It was loaded.');");
      }
      const { stdout, stderr } = await consumer.run(
        'versions.mjs',
        `import { createServer } from 'node:http';
         import { createProvider } from 'bolide';
         const versions = [];
         const server = createServer((request, response) => {
           versions.push(request.headers['x-stainless-package-version']);
           response.writeHead(400).end('{}');
         }).listen(0, '127.0.0.1');
         await new Promise((resolve) => server.once('listening', resolve));
         const baseURL = 'http://127.0.0.1:' + server.address().port;
         for (const vendor of ['openai', 'anthropic']) {
           const provider = createProvider({ vendor, apiKey: 'k', baseURL, allowPrivateHosts: true });
           const model = ${JSON.stringify(MODELS)}[vendor];
           await provider.generate('u1', { model, input: 'Hello' }).catch(() => undefined);
         }
         console.log(JSON.stringify(versions));
         process.exit();`,
      );
      expect(stderr).to.equal('');
      return JSON.parse(stdout);
    }

    it('are those of the app in a newer version', async () => {
      const newer = bundled.map((version) => `${version.split('.')[0] ?? ''}.9999.0`);
      expect(await reportedVersions(newer)).to.deep.equal(newer);
    });

    it("are the package's own beside another major version, an older one, or none", async () => {
      const unsupported = ['6.9999.0', '1.0.0'];
      expect(await reportedVersions(unsupported)).to.deep.equal(bundled);
      expect(await reportedVersions([])).to.deep.equal(bundled);
    });

    it('are not loaded from the app in the version that the package has', async () => {
      expect(await reportedVersions(bundled, true)).to.deep.equal(bundled);
    });
  });

  describe('a missing optional package', () => {
    it('is Agenda 6, with its backend, in an app that has Agenda 5', async () => {
      const consumer = await ConsumerApp.create(parent, packed);
      const folder = join('node_modules', 'agenda');
      await mkdir(join(consumer.directory, folder));
      await consumer.write(join(folder, 'package.json'), '{ "main": "index.js" }');
      await consumer.write(join(folder, 'index.js'), 'exports.Agenda = class { mongo() {} };');
      const { stdout } = await consumer.run(
        'agenda.mjs',
        `import { openAgendaQueue } from 'bolide/node';
         openAgendaQueue({ url: 'mongodb://127.0.0.1:1/x' }).catch((error) => console.log(error.code, error.message));`,
      );
      expect(stdout).to.include('missing-package').and.to.include('npm install agenda@6 @agendajs/mongo-backend');
    });

    for (const format of ['mjs', 'cjs'] as const) {
      it(`is named with the variable that asks for it: ${format}`, async () => {
        const load =
          format === 'mjs'
            ? "import { openDatabase, openAgendaQueue } from 'bolide/node';"
            : "const { openDatabase, openAgendaQueue } = require('bolide/node');";
        const { stdout } = await bare.run(
          `stores.${format}`,
          `${load}
           const message = (promise) => promise.catch((error) => error.message);
           Promise.all([
             message(openDatabase({ MONGO_URL: 'mongodb://127.0.0.1:1/x' })),
             message(openAgendaQueue({ url: 'mongodb://127.0.0.1:1/x' })),
           ]).then((messages) => console.log(JSON.stringify(messages)));`,
        );
        const [mongo, agenda] = JSON.parse(stdout) as [string, string];
        expect(mongo).to.include('MONGO_URL').and.to.include('npm install mongodb');
        expect(agenda).to.include('JOBS_ENGINE').and.to.include('npm install agenda@6 @agendajs/mongo-backend');
      });
    }
  });
});

/** What the front door infers, and what a server takes. */
const PROGRAM = `
import { agent, isLLMError, tool } from 'bolide';
import { startServer } from 'bolide/node';
const weather = tool({
  name: 'weather',
  description: 'The weather in a city.',
  parameters: {
    type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false,
  },
  execute: ({ city }) => city.length,
});
export const assistant = agent({ model: 'openai/gpt-5.4-mini', tools: [weather] });
export async function main(): Promise<void> {
  const server = await startServer({ env: { PORT: '0' }, tools: [weather] });
  try {
    for await (const text of assistant.stream('Hello').textStream) console.log(text);
  } catch (error) {
    if (isLLMError(error)) console.error(error.code);
  }
  await server.close();
}
`;

function slug(specifier: string): string {
  return specifier.replaceAll('/', '-');
}

/** The version of an installed package. */
function versionOf(name: string): string {
  const manifest = readFileSync(join(ROOT, 'node_modules', name, 'package.json'), 'utf8');
  return (JSON.parse(manifest) as { readonly version: string }).version;
}
