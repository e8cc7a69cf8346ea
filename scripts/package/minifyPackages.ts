/** Minifies the files that contain nothing but other packages' code, and deletes their source maps. */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { transform } from 'esbuild';

/** @param directory with the source maps of all files, whose sources say what a file contains */
export async function minifyPackages(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!/\.[cm]js\.map$/.test(name)) continue;
    const map = join(directory, name);
    const { sources } = JSON.parse(await readFile(map, 'utf8')) as { readonly sources: readonly string[] };
    if (!sources.every((source) => source.includes('/node_modules/'))) continue;
    const file = map.slice(0, -'.map'.length);
    const { code } = await transform(await readFile(file, 'utf8'), {
      minify: true,
      format: file.endsWith('.mjs') ? 'esm' : 'cjs',
      platform: 'node',
      target: 'node22.13',
      legalComments: 'none',
    });
    await writeFile(file, code.replace(/^\/\/# sourceMappingURL=.*\n?/m, ''));
    await rm(map);
  }
}
