/**
 * Puts each export of `bolide/react` in a file of its own, with what only it needs. Apps' bundlers leave out files that
 * nothing is imported from, but not the statements of a file that is needed for another export.
 */
import type { Plugin } from 'rolldown';

const EXPORT = /^export \{[^}]+\} from '(?<specifier>[^']+)';$/gm;

export function splitReact(): Plugin {
  return {
    name: 'bolide:split-react',
    transform: {
      filter: { id: /imports\/entries\/react\.ts$/ },
      // Before type-only exports are removed.
      order: 'pre',
      async handler(code, importer) {
        for (const [, specifier = ''] of code.matchAll(EXPORT)) {
          const resolved = await this.resolve(specifier, importer);
          if (resolved === null) throw new Error(`${importer} exports from ${specifier}, which does not exist.`);
          this.emitFile({ type: 'chunk', id: resolved.id });
        }
      },
    },
  };
}
