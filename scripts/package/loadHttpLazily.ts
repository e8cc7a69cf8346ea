/**
 * Loads `node:http` and `node:https` without an `import`, which the bundler would also make of a `require`. It takes 30
 * milliseconds, because it evaluates every export, among them Node's own WebSocket.
 */
import type { Plugin } from 'rolldown';

const IMPORT = /^import \{ ([\w, ]+) \} from 'node:(https?)';$/gm;
const REQUIRE = /\brequire\('(?:node:)?(https?)'\)/g;
/** What every server loads, but for declarations of types. `ws` is loaded by the first WebSocket. */
const LOADED_AT_START = /\/imports\/.*(?<!\.d)\.ts$|node_modules\/(?:router|prom-client)\/.*\.js$/;

export function loadHttpLazily(): Plugin {
  return {
    name: 'bolide:lazy-http',
    transform: {
      filter: { id: LOADED_AT_START, code: /https?'/ },
      handler: (code) =>
        code
          .replace(IMPORT, "const { $1 } = process.getBuiltinModule('node:$2');")
          .replace(REQUIRE, "process.getBuiltinModule('node:$1')"),
    },
    generateBundle(_, files) {
      for (const [name, file] of Object.entries(files))
        if (file.type === 'chunk' && file.imports.some((source) => /^(?:node:)?https?$/.test(source)))
          if (!file.moduleIds.some((id) => id.includes('/node_modules/ws/')) && !name.endsWith('.d.ts'))
            throw new Error(`${name} imports Node's HTTP, which takes 30 ms: ${file.imports.join(', ')}`);
    },
  };
}
