/** Makes declarations compile where an optional package is missing. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'rolldown';

/**
 * Optional peers, and packages without declarations of their own. An app that uses them has them; to others, the types
 * that depend on them are `any`.
 */
const { peerDependencies } = JSON.parse(readFileSync(join(process.cwd(), 'package.json'), 'utf8')) as {
  readonly peerDependencies: Readonly<Record<string, string>>;
};
const OPTIONAL = [...Object.keys(peerDependencies), 'express', 'ws'];

/** Puts `@ts-ignore` above the imports of optional packages in declaration files. */
export function markOptionalTypes(): Plugin {
  return {
    name: 'bolide:optional-types',
    renderChunk(code, { fileName }) {
      if (!/\.d\.[mc]ts$/.test(fileName)) return null;
      return code.replaceAll(/^import .* from "([^"]+)";$/gm, (line, specifier: string) =>
        OPTIONAL.some((name) => specifier === name || specifier.startsWith(`${name}/`))
          ? `// @ts-ignore An optional package.\n${line}`
          : line,
      );
    },
  };
}
