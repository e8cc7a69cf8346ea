/**
 * Includes all of the dashboard's pages in `bolide/react`. Meteor's bundlers do not split what is in `node_modules`,
 * and an app that loads the dashboard lazily splits it off as one.
 */
import type { Plugin } from 'rolldown';

const DYNAMIC_IMPORT = /await import\((?<specifier>'\.\/[\w/]+')\)/g;

export function inlinePages(): Plugin {
  return {
    name: 'bolide:inline-pages',
    transform: {
      filter: { id: /imports\/ui\/(?:pages\.tsx|dashboardPages\.ts)$/ },
      // Before the JSX is compiled, imports have the form that is written.
      order: 'pre',
      handler(code, id) {
        const imports: string[] = [];
        const inlined = code.replaceAll(DYNAMIC_IMPORT, (_, specifier: string) => {
          imports.push(`import * as page${imports.length} from ${specifier};`);
          return `await Promise.resolve(page${imports.length - 1})`;
        });
        if (imports.length === 0 || /\bimport\(/.test(inlined))
          throw new Error(`Expected imports of pages as \`await import('./folder/Page')\` in ${id}.`);
        return `${imports.join('\n')}\n${inlined}`;
      },
    },
  };
}
