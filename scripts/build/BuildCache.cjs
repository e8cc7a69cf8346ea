/**
 * Keeps what is built from this repository's sources in node_modules/.cache/bolide. A build is named by a digest of
 * all sources' names, sizes, times and inode numbers: writing to a file sets the time of its last change, which no
 * program can set back, so no edit is missed. Two processes may build at once; the first to finish wins.
 */
'use strict';

const { createHash, randomUUID } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');

const ROOT = path.join(__dirname, '../..');

/** Everything that a build of a program reads. Installing a package rewrites npm's own list of what is installed. */
const SOURCES = [
  'examples',
  'imports',
  'public',
  'scripts',
  'server',
  'tests/stubs',
  'package.json',
  'tsconfig.json',
  'tsconfig.node.json',
  'node_modules/.package-lock.json',
];

/** How many builds of a name are kept: a program that was started keeps its own until others are newer. */
const MAX_BUILDS = 4;
/** Milliseconds after which the files of an interrupted build are deleted. */
const MAX_BUILD_TIME = 3_600_000;

class BuildCache {
  /**
   * @param {string} [directory]
   * @param {string} [root] the repository
   * @param {readonly string[]} [sources] everything that a build reads, relative to the repository
   */
  constructor(directory = path.join(ROOT, 'node_modules/.cache/bolide'), root = ROOT, sources = SOURCES) {
    this.directory = directory;
    this.root = root;
    this.sources = sources;
  }

  /**
   * @param {string} name letters, digits and dashes
   * @returns {string | undefined} the directory of the build of the sources as they are
   */
  find(name) {
    const directory = this.directoryOf(name);
    return fs.existsSync(directory) ? directory : undefined;
  }

  /**
   * @param {string} name as of `find`
   * @param {(directory: string) => Promise<void>} build writes the files
   * @returns {Promise<string>} the directory, which exists whole or not at all
   * @throws the build's errors, and those of the file system
   */
  async add(name, build) {
    // Computed first: an edit during the build makes the result one of sources that are gone, which nothing looks up.
    const directory = this.directoryOf(name);
    const temporary = path.join(this.directory, `${name}.${randomUUID()}.tmp`);
    fs.mkdirSync(temporary, { recursive: true });
    try {
      await build(temporary);
      try {
        fs.renameSync(temporary, directory);
      } catch (error) {
        // Another process has built the same.
        if (!fs.existsSync(directory)) throw error;
      }
    } finally {
      fs.rmSync(temporary, { recursive: true, force: true });
    }
    this.prune(name, directory);
    return directory;
  }

  /** @param {string} name @returns {string} */
  directoryOf(name) {
    this.digest ??= digestOf(this.root, this.sources);
    return path.join(this.directory, `${name}.${this.digest}`);
  }

  /** @param {string} file an absolute path @returns {boolean} whether a change of the file makes builds anew */
  covers(file) {
    const relative = path.relative(this.root, file);
    return this.sources.some((source) => relative === source || relative.startsWith(source + path.sep));
  }

  /** Deletes old builds of the name. @param {string} name @param {string} current */
  prune(name, current) {
    const builds = fs
      .readdirSync(this.directory)
      .filter((each) => each.startsWith(`${name}.`))
      .map((each) => path.join(this.directory, each))
      .map((each) => ({ directory: each, time: fs.statSync(each, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
      .toSorted((a, b) => b.time - a.time);
    const finished = builds.filter(({ directory }) => !directory.endsWith('.tmp') && directory !== current);
    const interrupted = builds.filter(
      ({ directory, time }) => directory.endsWith('.tmp') && time < Date.now() - MAX_BUILD_TIME,
    );
    for (const { directory } of [...finished.slice(MAX_BUILDS - 1), ...interrupted])
      fs.rmSync(directory, { recursive: true, force: true });
  }
}

/** @param {string} root @param {readonly string[]} sources @returns {string} */
function digestOf(root, sources) {
  const hash = createHash('sha256').update(root);
  for (const source of sources) addTo(hash, path.join(root, source));
  return hash.digest('hex').slice(0, 16);
}

/**
 * @param {import('node:crypto').Hash} hash
 * @param {string} file a file or a directory; a missing one is a state, too
 */
function addTo(hash, file) {
  const stats = fs.statSync(file, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return;
  if (stats.isDirectory()) for (const name of fs.readdirSync(file).toSorted()) addTo(hash, path.join(file, name));
  else hash.update(`${file}\0${stats.size} ${stats.mtimeNs} ${stats.ctimeNs} ${stats.ino}\0`);
}

/** That of this process, which does not change with its sources. */
const buildCache = new BuildCache();

module.exports = { BuildCache, buildCache };
