/**
 * Compiles what Meteor compiles with Meteor's compilers and this repository's configuration. Babel takes minutes.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { compileWithBabel } from '../support/meteorBuild/compileWithBabel';
import type { BabelConfiguration, BabelOutput } from '../support/meteorBuild/compileWithBabel';
import { compileWithSwc } from '../support/meteorBuild/compileWithSwc';
import type { SwcConfiguration } from '../support/meteorBuild/compileWithSwc';
import { freeIdentifiers } from '../support/meteorBuild/freeIdentifiers';
import { BROWSER_ARCHES } from '../support/meteorBuild/MeteorArch';
import type { MeteorArch } from '../support/meteorBuild/MeteorArch';
import { isCompiled, reachableFiles, readSource } from '../support/meteorBuild/reachableFiles';
import { REPOSITORY } from '../support/meteorBuild/repository';
import { REFUSED_CONSTRUCTS } from '../support/meteorBuild/refusedConstructs';
import { resolveClassically } from '../support/meteorBuild/resolveClassically';

const CLIENT = 'client/main.tsx';
const SERVER = 'server/main.ts';

const readJson = (file: string): unknown => JSON.parse(readFileSync(path.join(REPOSITORY, file), 'utf8'));
const swcrc = readJson('.swcrc') as SwcConfiguration;
const babelrc = readJson('.babelrc') as BabelConfiguration;

/** Components whose JSX needs the automatic transform. */
const COMPONENTS = ['imports/ui/App.tsx', 'imports/ui/session/SignInPage.tsx'];
/** One of each kind: the entry, components, a hook, a table with dynamic imports, and shared domain code. */
const REPRESENTATIVES = [
  ...COMPONENTS,
  CLIENT,
  'imports/ui/components/useCommand.ts',
  'imports/ui/pages.tsx',
  'imports/business/ai/domain/entities/Tool.ts',
];

const compiledFiles = (entry: string): readonly string[] => reachableFiles(entry).files.filter(isCompiled);

/** What browsers do not define: the classic JSX transform's `React`, and Node's globals. */
const UNDEFINED_IN_BROWSERS = ['React', 'process', 'Buffer', 'global', 'setImmediate', '__dirname', '__filename'];

interface Compiled {
  readonly file: string;
  readonly code: string;
}

const withSwc = (files: readonly string[], arch: MeteorArch, configuration: SwcConfiguration): readonly Compiled[] =>
  files.map((file) => ({
    file,
    code: compileWithSwc(file, readSource(file), arch, configuration).code,
  }));

async function withBabel(
  files: readonly string[],
  arch: MeteorArch,
  configuration: BabelConfiguration,
): Promise<readonly Compiled[]> {
  const inputs = files.map((file) => ({ file, source: readSource(file), arch }));
  const outputs = await compileWithBabel(inputs, configuration);
  expect(outputs.length).to.equal(inputs.length);
  return outputs.map((output, index) => {
    const { file } = inputs[index]!;
    if ('error' in output) throw new Error(`${file}: ${output.error}`);
    return { file, code: output.code };
  });
}

const filesWithFree = (identifiers: readonly string[], compiled: readonly Compiled[]): readonly string[] =>
  compiled
    .filter(({ code }) => {
      const free = freeIdentifiers(code);
      return identifiers.some((identifier) => free.has(identifier));
    })
    .map(({ file }) => file);

describe("Meteor's compilers", function () {
  this.timeout(600_000);

  describe('SWC (Meteor 3.3 and newer with modern: true)', () => {
    for (const arch of BROWSER_ARCHES)
      it(`compiles the client for ${arch} without identifiers that browsers do not define`, () => {
        const compiled = withSwc(compiledFiles(CLIENT), arch, swcrc);
        expect(compiled.length).to.be.above(50);
        expect(filesWithFree(UNDEFINED_IN_BROWSERS, compiled)).to.deep.equal([]);
      });

    it('compiles the server', () => {
      expect(withSwc(compiledFiles(SERVER), 'os', swcrc).length).to.be.above(200);
    });

    it('leaves a free `React` in components without .swcrc', () => {
      expect(filesWithFree(['React'], withSwc(COMPONENTS, 'web.browser', {}))).to.deep.equal(COMPONENTS);
    });
  });

  describe('Babel (Meteor 3.0 to 3.2, and newer without modern: true)', () => {
    for (const arch of BROWSER_ARCHES)
      it(`compiles the client for ${arch} without identifiers that browsers do not define`, async () => {
        const files = compiledFiles(CLIENT);
        expect(files).to.include.members(REPRESENTATIVES);
        const compiled = await withBabel(files, arch, babelrc);
        expect(filesWithFree(UNDEFINED_IN_BROWSERS, compiled)).to.deep.equal([]);
      });

    it('leaves a free `React` in components without .babelrc', async () => {
      const compiled = await withBabel(COMPONENTS, 'web.browser', { plugins: [] });
      expect(filesWithFree(['React'], compiled)).to.deep.equal(COMPONENTS);
    });

    it('compiles the server', async () => {
      expect((await withBabel(compiledFiles(SERVER), 'os', babelrc)).length).to.be.above(200);
    });
  });

  describe('The classic bundler', () => {
    /** The compiled JSX imports it. */
    const JSX_RUNTIME = 'react/jsx-runtime';
    /** Not with the classic bundler, as docs/dependencies.md says. */
    const MCP_STDIO = '@modelcontextprotocol/client/stdio';

    for (const [entry, arch] of [
      [CLIENT, 'web.browser'],
      [CLIENT, 'web.browser.legacy'],
      [SERVER, 'os'],
    ] as const)
      it(`finds every package of ${entry} for ${arch}, although it ignores \`exports\``, () => {
        const packages = [...reachableFiles(entry).packages.keys(), ...(entry === CLIENT ? [JSX_RUNTIME] : [])];
        const foreign = packages.filter((specifier) => !/^(node:|meteor\/)/.test(specifier) && specifier !== MCP_STDIO);
        expect(foreign.length).to.be.above(2);
        expect(foreign.filter((specifier) => resolveClassically(specifier, arch) === undefined)).to.deep.equal([]);
      });

    it('does not find a subpath that only `exports` defines', () => {
      expect(resolveClassically('mingo/updater', 'os')).to.equal(undefined);
    });
  });

  describe('refuse or miscompile what lint forbids', () => {
    const file = 'imports/planted.ts';
    const COMPILERS = ['SWC', 'Babel'] as const;
    let babelOutputs: readonly BabelOutput[] = [];
    before(async () => {
      const inputs = REFUSED_CONSTRUCTS.map(({ source, arch }) => ({ file, source, arch }));
      babelOutputs = await compileWithBabel(inputs, babelrc);
    });

    for (const [
      index,
      { name, source, arch, refusedBy, miscompiledTo, miscompiledBy = COMPILERS },
    ] of REFUSED_CONSTRUCTS.entries())
      it(name, () => {
        const outputs: Readonly<Record<'SWC' | 'Babel', BabelOutput>> = {
          SWC: trySwc(source, arch),
          Babel: babelOutputs[index]!,
        };
        const refusing = Object.entries(outputs).filter(([, output]) => 'error' in output);
        expect(refusing.map(([compiler]) => compiler)).to.deep.equal(refusedBy);
        if (miscompiledTo === undefined) expect(refusing).not.to.deep.equal([]);
        else
          for (const compiler of miscompiledBy) {
            const output = outputs[compiler];
            expect('code' in output && output.code.includes(miscompiledTo)).to.equal(true);
          }
      });

    function trySwc(source: string, arch: MeteorArch): BabelOutput {
      try {
        return { code: compileWithSwc(file, source, arch, swcrc).code };
      } catch (error) {
        return { error: (error as Error).message };
      }
    }
  });
});
