/** Completes the npm package after the entries have been compiled: the last step of `npm run build`. */
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleDashboard } from '../../server/bundleDashboard';
import { ENTRIES } from './entries';
import { BUNDLED_PACKAGES } from './inlinedPackages';
import { markOptionalTypes } from './markOptionalTypes';
import { minifyPackages } from './minifyPackages';

const ROOT = process.cwd();

async function writeAssets(): Promise<void> {
  const { peerDependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    readonly peerDependencies: Readonly<Record<string, string>>;
  };
  await minifyPackages(join(ROOT, 'dist'));
  await markOptionalTypes(join(ROOT, 'dist'), Object.keys(peerDependencies));
  await writeDashboard();
  await writeFolders();
  await writeStyles();
  await writeLicences();
}

/** The dashboard as `startServer` serves it. */
async function writeDashboard(): Promise<void> {
  const directory = join(ROOT, 'dist/dashboard');
  await mkdir(directory, { recursive: true });
  for (const [name, contents] of await bundleDashboard()) await writeFile(join(directory, name), contents);
}

/**
 * A folder for each subpath, which points to the files in `dist`. Meteor's classic bundler and TypeScript's `node10`
 * resolution read folders, but not `exports`.
 */
async function writeFolders(): Promise<void> {
  for (const name of Object.keys(ENTRIES)) {
    if (name === 'index') continue;
    const directory = join(ROOT, name);
    await rm(directory, { recursive: true, force: true });
    await mkdir(directory);
    const target = `../dist/${name}`;
    const manifest = { main: `${target}.cjs`, module: `${target}.mjs`, types: `${target}.d.cts` };
    await writeFile(join(directory, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  }
}

/** The style sheet of `Dashboard`. */
async function writeStyles(): Promise<void> {
  const { outputFiles } = await build({
    entryPoints: [join(ROOT, 'imports/ui/dashboardStyles.ts')],
    bundle: true,
    write: false,
    minify: true,
    outdir: '/styles',
    logLevel: 'error',
  });
  const css = outputFiles.find(({ path }) => path.endsWith('.css'));
  if (css === undefined) throw new Error('The dashboard has no style sheet.');
  await writeFile(join(ROOT, 'react/styles.css'), css.contents);
}

/** The licences of the bundled packages, which their texts require to come along. */
async function writeLicences(): Promise<void> {
  const texts = await Promise.all(BUNDLED_PACKAGES.map(async (name) => `${name}\n\n${await licenceOf(name)}`));
  await writeFile(join(ROOT, 'dist/LICENSES.txt'), texts.join('\n\n'));
}

/** The text of the licence, or who grants which if the package comes without one. */
async function licenceOf(name: string): Promise<string> {
  const directory = join(ROOT, 'node_modules', name);
  const file = (await readdir(directory)).find((each) => /^licen[cs]e(?:\.\w+)?$/i.test(each));
  if (file !== undefined) return readFile(join(directory, file), 'utf8');
  const { license, author, homepage } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8')) as {
    readonly [field in 'license' | 'author' | 'homepage']?: string;
  };
  if (license === undefined || author === undefined) throw new Error(`The package ${name} has no licence.`);
  return `${license}, ${author}, ${homepage ?? ''}\n`;
}

void writeAssets();
