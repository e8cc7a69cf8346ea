/** The titles of tests, read from their files. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './markdown';

const CALL = /^( *)(describe|it)(\w*)\(\s*(?:'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)")?/gm;

interface Suite {
  readonly indent: number;
  /** Undefined: it is made of variables. */
  readonly title: string | undefined;
}

/**
 * Returns the full titles of the tests that `npm test` runs in a file, except for those that are made of variables.
 * @param path relative to the repository's root
 */
export function testTitles(path: string): readonly string[] {
  const suites: Suite[] = [];
  const titles: string[] = [];
  for (const [, { length: indent } = '', kind, variant = '', single, double] of readFileSync(
    join(ROOT, path),
    'utf8',
  ).matchAll(CALL)) {
    while ((suites.at(-1)?.indent ?? -1) >= indent) suites.pop();
    const title = variant.includes('Soak') ? undefined : (single ?? double)?.replace(/\\(.)/g, '$1');
    const parts = [...suites.map((suite) => suite.title), title];
    if (kind === 'describe') suites.push({ indent, title });
    else if (parts.every((part) => part !== undefined)) titles.push(parts.join(' '));
  }
  return titles;
}
