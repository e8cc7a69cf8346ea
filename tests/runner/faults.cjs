/**
 * Faults that are planted in a source as it is compiled, to see whether a test finds them: no file is edited, and a
 * faulty module is kept apart from the right one, whose source is another. `BOLIDE_FAULTS` is JSON of a list of edits.
 */
'use strict';

const path = require('node:path');

const ROOT = path.join(__dirname, '../..');

/** @typedef {{ file: string, start: number, end: number, text: string }} Edit replaces a part of a file */

/** @type {readonly Edit[]} */
const FAULTS = JSON.parse(process.env.BOLIDE_FAULTS ?? '[]');

/** @param {string} file an absolute path @param {string} source @returns {string} */
function withFaults(file, source) {
  if (FAULTS.length === 0) return source;
  return FAULTS.filter((fault) => path.join(ROOT, fault.file) === file)
    .toSorted((a, b) => b.start - a.start)
    .reduce((changed, { start, end, text }) => changed.slice(0, start) + text + changed.slice(end), source);
}

module.exports = { withFaults };
