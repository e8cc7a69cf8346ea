/**
 * Fails if an app would pay more for the built package than we promise: `npm run check:package`. Prints what it has
 * measured.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { PACKAGE_DIRECTORY } from './packageManifest';
import { signInBytes } from './signInBytes';

const KILOBYTE = 1000;
const MAX_HOOKS_BYTES = 20 * KILOBYTE;
const MAX_IMPORT_MS = 120;
/** The CPU time of an empty process on the machine of that limit. */
const EMPTY_MS = 22;
const MAX_SIGN_IN_BYTES = 90 * KILOBYTE;
const ROUNDS = 10;

/** What a page of an app's own imports: the hooks, and their data over HTTP. */
const HOOKS = ['BolideProvider', 'createHttpData', 'useConversation', 'useRun'];

async function checkWeight(): Promise<void> {
  const hooks = await hooksBytes();
  console.log(`Hooks of bolide/react: ${(hooks / KILOBYTE).toFixed(1)} KB gzipped, without React.`);
  const milliseconds = await importMilliseconds();
  console.log(`Importing bolide: ${milliseconds.toFixed(0)} ms of CPU time.`);
  // Browsers accept Brotli over https and from localhost only.
  const brotli = await signInBytes('br');
  const gzip = await signInBytes('gzip');
  console.log(
    `Sign-in page: ${(brotli / KILOBYTE).toFixed(1)} KB with Brotli, ${(gzip / KILOBYTE).toFixed(1)} KB with gzip.`,
  );
  if (hooks > MAX_HOOKS_BYTES) throw new Error(`The hooks may take ${MAX_HOOKS_BYTES / KILOBYTE} KB.`);
  if (milliseconds > MAX_IMPORT_MS) throw new Error(`The import may take ${MAX_IMPORT_MS} ms.`);
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

/**
 * The CPU time of a process that imports the package, less that of an empty one, scaled to the machine of the limit: on
 * a slow or busy one, both take longer.
 */
async function importMilliseconds(): Promise<number> {
  const entry = JSON.stringify(join(PACKAGE_DIRECTORY, 'dist/index.js'));
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const empty = await processMilliseconds('');
    const importing = await processMilliseconds(`await import(${entry});`);
    rounds.push(((importing - empty) * EMPTY_MS) / empty);
  }
  // Both processes of a round have about the same machine, whose speed changes from round to round.
  const [, median = Infinity] = rounds.toSorted((one, other) => one - other).slice(ROUNDS / 2 - 1);
  return median;
}

async function processMilliseconds(program: string): Promise<number> {
  const report = 'const { user, system } = process.cpuUsage(); console.log((user + system) / 1000);';
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program + report]);
  return Number(stdout);
}

checkWeight().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
