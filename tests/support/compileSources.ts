/** Compiles sources that exist in memory only, as programs that have installed the npm package. */
import { dirname, join } from 'node:path';
import ts from 'typescript';

const ROOT = join(__dirname, '../..');

/** The npm package is what its entries export. */
const PACKAGE_PATHS: Readonly<Record<string, string[]>> = {
  bolide: ['./imports/entries/index.ts'],
  'bolide/core': ['./imports/entries/core.ts'],
  'bolide/ai-sdk': ['./imports/entries/aiSdk.ts'],
  'bolide/meteor-client': ['./imports/entries/meteorClient.ts'],
  'bolide/*': ['./imports/entries/*.ts'],
};

/** @param sources by absolute path, under the project's own compiler options */
export function compileSources(sources: ReadonlyMap<string, string>): ts.Program {
  const configPath = join(ROOT, 'tsconfig.node.json');
  const config: unknown = ts.readConfigFile(configPath, (path) => ts.sys.readFile(path)).config;
  const { options } = ts.parseJsonConfigFileContent(
    { ...(config as object), include: [], files: [] },
    ts.sys,
    dirname(configPath),
  );
  options.paths = { ...options.paths, ...PACKAGE_PATHS };
  const host = ts.createCompilerHost(options);
  const fromDisk = ts.createCompilerHost(options);
  host.fileExists = (path) => sources.has(path) || fromDisk.fileExists(path);
  host.readFile = (path) => sources.get(path) ?? fromDisk.readFile(path);
  host.getSourceFile = (path, language, ...rest) => {
    const source = sources.get(path);
    return source === undefined
      ? fromDisk.getSourceFile(path, language, ...rest)
      : ts.createSourceFile(path, source, language);
  };
  return ts.createProgram([...sources.keys()], options, host);
}
