/** `scripts/run.cjs`, which `npm start`, `npm run ask` and the examples go through. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import * as errors from '../../imports/business/ai/domain/errors/LLMErrors';

const ROOT = join(__dirname, '../..');
const { buildProgram } = createRequire(__filename)('../../scripts/build/buildProgram.cjs') as {
  readonly buildProgram: (entry: string, directory: string) => Promise<readonly string[]>;
};

describe('a program that is compiled once', () => {
  let directory = '';
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-program-'));
  });
  after(() => rm(directory, { recursive: true, force: true }));

  function run(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
    const { PATH, HOME } = process.env;
    return new Promise((resolve) => {
      execFile(process.execPath, args, { cwd: ROOT, env: { PATH, HOME } }, (error, stdout, stderr) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
      );
    });
  }

  it('names the TypeScript file and line in stacks, and knows its own folder and arguments', async () => {
    const entry = join(directory, 'program.ts');
    await writeFile(
      entry,
      [
        'interface Unused {',
        '  readonly name: string;',
        '}',
        'console.log(JSON.stringify([__dirname, process.argv.slice(1)]));',
        'const fail = (by: Unused): never => { throw new Error(by.name); };',
        "try { fail({ name: 'oops' }); } catch (error) { console.log((error as Error).stack?.split('\\n')[1]); }",
      ].join('\n'),
    );
    const sources = await buildProgram(entry, join(directory, 'built'));
    expect(sources).to.deep.equal([entry]);
    const program = join(directory, 'built/program.cjs');
    const { stdout } = await run('-e', `process.setSourceMapsEnabled(true); require(${JSON.stringify(program)})`, 'a');
    const [told, frame] = stdout.trim().split('\n');
    expect(JSON.parse(told ?? '')).to.deep.equal([directory, ['a']]);
    expect(frame).to.include('program.ts:5:');
  });

  it('has the names of errors that its sources have', async () => {
    const entry = join(directory, 'names.ts');
    const module = join(ROOT, 'imports/host/node/runServer');
    const errorModule = join(ROOT, 'imports/business/ai/domain/errors/LLMErrors');
    await writeFile(
      entry,
      `import { runServer } from ${JSON.stringify(module)};
       import * as errors from ${JSON.stringify(errorModule)};
       console.log(JSON.stringify(Object.entries(errors).map(([name, value]) => [name, (value as { name?: string }).name])));
       void runServer;`,
    );
    await buildProgram(entry, join(directory, 'names'));
    const { stdout } = await run(join(directory, 'names/program.cjs'));
    const names = new Map(JSON.parse(stdout) as [string, string][]);
    const classes = Object.entries(errors).filter(
      ([, value]) => typeof value === 'function' && value.prototype instanceof Error,
    );
    expect(classes).not.to.have.length(0);
    for (const [name] of classes) expect(names.get(name), name).to.equal(name);
  });

  it('says where a source does not compile', async () => {
    const entry = join(directory, 'broken.ts');
    await writeFile(entry, 'const broken = ;\n');
    const { code, stdout, stderr } = await run('scripts/run.cjs', entry);
    expect([code, stdout]).to.deep.equal([1, '']);
    expect(stderr).to.include('broken.ts:1:15');
  });

  it('runs from its sources, and says why, if nothing can be written', async () => {
    const readOnly = join(directory, 'readOnly.cjs');
    await writeFile(
      readOnly,
      `const fs = require('node:fs');
       const isCache = (path) => String(path).includes('.cache');
       const { existsSync, mkdirSync } = fs;
       fs.existsSync = (path) => !isCache(path) && existsSync(path);
       fs.mkdirSync = (path, options) => {
         if (!isCache(path)) return mkdirSync(path, options);
         throw Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' });
       };`,
    );
    const { code, stdout, stderr } = await run('--require', readOnly, 'scripts/run.cjs', 'scripts/ask.ts', '--help');
    expect(code).to.equal(0);
    expect(stdout).to.include('Usage: npm run ask');
    expect(stderr).to.include('node_modules/.cache/bolide').and.to.include('EROFS');
  });

  it('is not kept if an edit of it would be missed', async () => {
    const entry = join(directory, 'elsewhere.ts');
    await writeFile(entry, 'const text: string = process.argv[2]; console.log(text);');
    const { stdout, stderr } = await run('scripts/run.cjs', entry, 'argument');
    expect(stdout).to.equal('argument\n');
    expect(stderr).to.include(entry).and.to.include('SOURCES');
  });
});
