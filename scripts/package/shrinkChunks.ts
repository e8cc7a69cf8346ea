/**
 * Removes comments and white space from Bolide's own files, whose names stay, so that stack traces and the lines that
 * Node prints with them can be read, and minifies those that contain nothing but other packages' code. Both are ASCII
 * then, which V8 compiles faster than text of two bytes a character.
 */
import { transform } from 'esbuild';
import type { OutputChunk, Plugin } from 'rolldown';
import { join } from 'node:path';
import { NODE_TARGET } from './packageManifest';

const SOURCES = join(__dirname, '../../imports/');

/** Characters. A statement is not broken, so some lines are longer. */
const LINE_LIMIT = 120;

export function shrinkChunks(): Plugin {
  return {
    name: 'bolide:shrink-chunks',
    // Rolldown prints again what `renderChunk` returns, with white space.
    async generateBundle(_, files) {
      for (const file of Object.values(files))
        if (file.type === 'chunk' && !file.fileName.endsWith('.d.ts')) file.code = await shrink(file);
    },
  };
}

async function shrink({ code, moduleIds }: OutputChunk): Promise<string> {
  const isForeign =
    moduleIds.some((id) => id.includes('/node_modules/')) && !moduleIds.some((id) => id.startsWith(SOURCES));
  const shrunk = await transform(code, {
    ...(isForeign ? { minify: true } : { minifyWhitespace: true, lineLimit: LINE_LIMIT }),
    format: 'esm',
    platform: 'node',
    target: NODE_TARGET,
    legalComments: 'none',
    charset: 'ascii',
  });
  // Rolldown leaves it in the file that all others share, also those for browsers, where nothing uses it.
  return shrunk.code.replace(/^import ?"node:module";\n?/m, '');
}
