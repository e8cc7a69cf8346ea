/** Completes the npm package after the entries have been compiled: the last step of `npm run build`. */
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { bundleDashboard } from '../../server/bundleDashboard';
import { billOfMaterials } from './billOfMaterials';
import { BUNDLED_PACKAGES } from './inlinedPackages';
import { markOptionalTypes } from './markOptionalTypes';
import { PACKAGE_DIRECTORY, packageManifest } from './packageManifest';
import { writeMeteorFiles } from './writeMeteorFiles';

const ROOT = process.cwd();
const DIST = join(PACKAGE_DIRECTORY, 'dist');
/** What the package has in common with the repository. */
const COPIED_FILES = ['LICENSE', 'README.md', 'bin/bolide.mjs'];

async function writeAssets(): Promise<void> {
  const manifest = packageManifest();
  await writeJson('package.json', manifest);
  await mkdir(join(PACKAGE_DIRECTORY, 'bin'), { recursive: true });
  for (const file of COPIED_FILES) await copyFile(join(ROOT, file), join(PACKAGE_DIRECTORY, file));
  await copyFile(join(ROOT, 'scripts/checkNode.cjs'), join(PACKAGE_DIRECTORY, 'bin/checkNode.cjs'));
  await markOptionalTypes(DIST, Object.keys(manifest.peerDependencies));
  await writeDashboard();
  await writeMeteorFiles(PACKAGE_DIRECTORY);
  await writeStyles();
  await writeLicences();
  await writeJson('sbom.cdx.json', await billOfMaterials());
}

/**
 * The dashboard as `startServer` serves it. Scripts and style sheets are included in their smallest form only: the
 * server converts them for clients that don't accept it.
 */
async function writeDashboard(): Promise<void> {
  const directory = join(DIST, 'dashboard');
  await mkdir(directory, { recursive: true });
  for (const [name, contents] of await bundleDashboard())
    if (/\.(?:js|css)$/.test(name)) await writeFile(join(directory, `${name}.br`), await brotliSmallest(contents));
    else await writeFile(join(directory, name), contents);
}

function brotliSmallest(contents: Buffer): Promise<Buffer> {
  return promisify(brotliCompress)(contents, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: contents.byteLength,
    },
  });
}

/** An empty style sheet, for apps that import it, as they had to before the dashboard brought its own styles. */
async function writeStyles(): Promise<void> {
  await writeFile(join(PACKAGE_DIRECTORY, 'react/styles.css'), '/* The dashboard brings its own styles. */\n');
}

/** The licences of the bundled packages, which their texts require to come along. */
async function writeLicences(): Promise<void> {
  const texts = await Promise.all(BUNDLED_PACKAGES.map(async (name) => `${name}\n\n${await licenceOf(name)}`));
  await writeFile(join(DIST, 'LICENSES.txt'), texts.join('\n\n'));
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

/** @param file a path within the package */
async function writeJson(file: string, value: object): Promise<void> {
  await writeFile(join(PACKAGE_DIRECTORY, file), `${JSON.stringify(value, null, 2)}\n`);
}

void writeAssets();
