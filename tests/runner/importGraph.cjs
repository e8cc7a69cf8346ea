/** Which sources import which, from their compiled code. */
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { compileSource } = require('./compileSource.cjs');
const { mapped } = require('./loadSources.cjs');

class ImportGraph {
  constructor() {
    /** @type {Map<string, { code: string, imports: readonly string[] }>} by absolute path */
    this.modules = new Map();
  }

  /** @param {string} entry an absolute path @returns {Set<string>} the sources that it reaches, itself included */
  reachedFrom(entry) {
    const reached = new Set([entry]);
    for (const file of reached) for (const imported of this.moduleOf(file).imports) reached.add(imported);
    return reached;
  }

  /**
   * @param {string} entry an absolute path
   * @param {ReadonlySet<string>} targets likewise
   * @returns {number} how many imports lead from it to one of them; Infinity if none does
   */
  distance(entry, targets) {
    const reached = new Map([[entry, 0]]);
    for (const [file, distance] of reached) {
      if (targets.has(file)) return distance;
      for (const imported of this.moduleOf(file).imports)
        if (!reached.has(imported)) reached.set(imported, distance + 1);
    }
    return Infinity;
  }

  /** @param {string} file an absolute path @returns {{ code: string, imports: readonly string[] }} */
  moduleOf(file) {
    const known = this.modules.get(file);
    if (known !== undefined) return known;
    const module = read(file);
    this.modules.set(file, module);
    return module;
  }
}

/** @param {string} file */
function read(file) {
  if (!/\.tsx?$/.test(file)) return { code: fs.readFileSync(file, 'utf8'), imports: [] };
  const [code = ''] = compileSource(file).split('\n//# sourceMappingURL=');
  const imports = [...code.matchAll(/\brequire\("([^"]+)"\)/g)].flatMap(([, specifier]) => {
    const target = mapped(specifier);
    if (!target.startsWith('.') && !path.isAbsolute(target)) return [];
    const place = path.resolve(path.dirname(file), target);
    const found = [place, `${place}.ts`, `${place}.tsx`, path.join(place, 'index.ts')].find(isFile);
    return found === undefined ? [] : [found];
  });
  return { code, imports };
}

/** @param {string} file */
const isFile = (file) => fs.statSync(file, { throwIfNoEntry: false })?.isFile() === true;

module.exports = { ImportGraph };
