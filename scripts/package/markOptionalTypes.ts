/** Makes declarations compile where an optional package is missing. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Puts `@ts-ignore` above the imports of optional peers in the declarations of `directory`. An app that uses such a
 * package has it; to others, the types that depend on it are `any`.
 * @throws Error if an optional package is imported in another form
 */
export async function markOptionalTypes(directory: string, peers: readonly string[]): Promise<void> {
  const isOptional = (specifier: string): boolean =>
    peers.some((name) => specifier === name || specifier.startsWith(`${name}/`));
  for (const file of await readdir(directory)) {
    if (!file.endsWith('.d.ts')) continue;
    const path = join(directory, file);
    const code = await readFile(path, 'utf8');
    const marked = code.replaceAll(/^(?:import|export) .* from "([^"]+)";$/gm, (line, specifier: string) =>
      isOptional(specifier) ? `// @ts-ignore An optional package.\n${line}` : line,
    );
    await writeFile(path, marked);
    for (const [, specifier = ''] of code.matchAll(/\b(?:import|require)\("([^"]+)"\)/g))
      if (isOptional(specifier)) throw new Error(`${file} imports the optional package "${specifier}" within a type.`);
  }
}
