/**
 * Fails if an app would pay more for the built package than we promise: `npm run check:package`. Prints what it has
 * measured.
 */
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { PACKAGE_DIRECTORY } from './packageManifest';
import { signInBytes } from './signInBytes';

const KILOBYTE = 1000;
const MAX_HOOKS_BYTES = 20 * KILOBYTE;
const MAX_IMPORT_BYTES = 2_700 * KILOBYTE;
const MAX_SIGN_IN_BYTES = 90 * KILOBYTE;

/** What a page of an app's own imports: the hooks, and their data over HTTP. */
const HOOKS = ['BolideProvider', 'createHttpData', 'useConversation', 'useRun'];

async function checkWeight(): Promise<void> {
  const hooks = await hooksBytes();
  console.log(`Hooks of bolide/react: ${(hooks / KILOBYTE).toFixed(1)} KB gzipped, without React.`);
  const imported = await importBytes();
  console.log(`Importing bolide: ${(imported / KILOBYTE).toFixed(0)} KB of code.`);
  // Browsers accept Brotli over https and from localhost only.
  const brotli = await signInBytes('br');
  const gzip = await signInBytes('gzip');
  console.log(
    `Sign-in page: ${(brotli / KILOBYTE).toFixed(1)} KB with Brotli, ${(gzip / KILOBYTE).toFixed(1)} KB with gzip.`,
  );
  if (hooks > MAX_HOOKS_BYTES) throw new Error(`The hooks may take ${MAX_HOOKS_BYTES / KILOBYTE} KB.`);
  if (imported > MAX_IMPORT_BYTES) throw new Error(`The import may take ${MAX_IMPORT_BYTES / KILOBYTE} KB.`);
  if (Math.max(brotli, gzip) > MAX_SIGN_IN_BYTES)
    throw new Error(`The sign-in page may take ${MAX_SIGN_IN_BYTES / KILOBYTE} KB.`);
}

/** The size of the hooks in an app's bundle, as browsers receive it. */
async function hooksBytes(): Promise<number> {
  const { outputFiles } = await build({
    stdin: {
      contents: `export { ${HOOKS.join(', ')} } from './dist/react.js';`,
      resolveDir: PACKAGE_DIRECTORY,
    },
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    external: ['react', 'react-dom'],
    logLevel: 'error',
  });
  return outputFiles.reduce((sum, { contents }) => sum + gzipSync(contents).byteLength, 0);
}

/** The code that Node reads for `import 'bolide'`, without what is imported when it is used. */
async function importBytes(): Promise<number> {
  const { metafile } = await build({
    entryPoints: ['dist/index.js'],
    absWorkingDir: PACKAGE_DIRECTORY,
    bundle: true,
    splitting: true,
    write: false,
    outdir: 'unwritten',
    metafile: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
  const files = new Set(['dist/index.js']);
  // A set's iteration includes what is added meanwhile.
  for (const file of files)
    for (const { kind, path, external } of metafile.inputs[file]?.imports ?? [])
      if (kind === 'import-statement' && external !== true) files.add(path);
  return [...files].reduce((sum, file) => sum + (metafile.inputs[file]?.bytes ?? 0), 0);
}

checkWeight().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
