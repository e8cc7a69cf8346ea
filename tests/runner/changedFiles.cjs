/** Which tests a change can have broken. */
'use strict';

const { execFileSync } = require('node:child_process');
const path = require('node:path');
const { ImportGraph } = require('./importGraph.cjs');

const ROOT = path.join(__dirname, '../..');

/** What everything depends on. */
const EVERYWHERE = /^(package(-lock)?\.json|tsconfig.*\.json|\.mocharc\.cjs|tests\/runner\/|tests\/stubs\/)/;

/**
 * @param {string} base what the working tree is compared with, such as `origin/main`
 * @returns {string[]} relative to the repository; files that git does not know yet are included
 */
function changedSince(base) {
  const git = (...args) =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
      .split('\n')
      .filter(Boolean);
  const fork = git('merge-base', base, 'HEAD')[0] ?? base;
  return [...git('diff', '--name-only', fork), ...git('ls-files', '--others', '--exclude-standard')];
}

/**
 * @param {readonly string[]} tests relative to the repository
 * @param {readonly string[]} changed likewise
 * @param {ImportGraph} [graph] one that has read the sources already
 * @returns {string[]} those that import a changed source, or name a changed file or its folder in their code
 */
function selectAffected(tests, changed, graph = new ImportGraph()) {
  if (changed.some((file) => EVERYWHERE.test(file))) return [...tests];
  const sources = new Set(changed.filter((file) => /\.tsx?$/.test(file)).map((file) => path.join(ROOT, file)));
  const names = changed.flatMap((file) => [path.basename(file), path.basename(path.dirname(file))]);
  const named = [...new Set(names)].filter((name) => name !== '.' && name.length > 3);
  return tests.filter((test) => {
    const reached = [...graph.reachedFrom(path.join(ROOT, test))];
    if (reached.some((file) => sources.has(file))) return true;
    return reached.some(
      (file) => file.startsWith(`${ROOT}/tests/`) && named.some((name) => mentions(graph.moduleOf(file).code, name)),
    );
  });
}

/** @param {string} code @param {string} name of a file or folder */
const mentions = (code, name) => [`/${name}`, `"${name}`, `'${name}`].some((text) => code.includes(text));

module.exports = { changedSince, selectAffected };
