import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { transformSync } from 'esbuild';
import ts from 'typescript';
import { REPOSITORY } from './repository';

export interface Reachable {
  /** Paths within the repository. */
  readonly files: readonly string[];
  /** Each package specifier with a file that imports it. */
  readonly packages: ReadonlyMap<string, string>;
}

const reached = new Map<string, Reachable>();

/** Every file that a bundler reaches from an entry point. Type-only imports are erased, as they are by bundlers. */
export function reachableFiles(entry: string): Reachable {
  const result = reached.get(entry) ?? walk(entry);
  reached.set(entry, result);
  return result;
}

function walk(entry: string): Reachable {
  const files = new Set<string>();
  const packages = new Map<string, string>();
  const pending = [entry];
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    if (!isCompiled(file)) continue;
    for (const specifier of valueImportsOf(file)) {
      if (specifier.startsWith('.')) pending.push(resolveFile(file, specifier));
      else packages.set(specifier, file);
    }
  }
  return { files: [...files], packages };
}

export function isCompiled(file: string): boolean {
  return /\.tsx?$/.test(file);
}

export function readSource(file: string): string {
  return readFileSync(path.join(REPOSITORY, file), 'utf8');
}

function valueImportsOf(file: string): readonly string[] {
  const { code } = transformSync(readSource(file), {
    loader: file.endsWith('.tsx') ? 'tsx' : 'ts',
    jsx: 'preserve',
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
  });
  return ts.preProcessFile(code, true, true).importedFiles.map(({ fileName }) => fileName);
}

function resolveFile(importer: string, specifier: string): string {
  const base = path.join(path.dirname(importer), specifier);
  const found = ['', '.ts', '.tsx', '.json']
    .map((extension) => base + extension)
    .find((candidate) => statSync(path.join(REPOSITORY, candidate), { throwIfNoEntry: false })?.isFile());
  if (found === undefined) throw new Error(`Cannot resolve "${specifier}" in ${importer}.`);
  return found;
}
