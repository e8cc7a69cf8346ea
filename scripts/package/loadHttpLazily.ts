/**
 * Has `router` load `node:http` with the first API. An `import` of it, which the bundler would make of its `require`,
 * takes 30 milliseconds, because it evaluates every export, among them Node's own WebSocket.
 */
import type { Plugin } from 'rolldown';

const SOURCE = "require('node:http')";

export function loadHttpLazily(): Plugin {
  return {
    name: 'bolide:lazy-http',
    transform: {
      filter: { id: /node_modules\/router\/(?:index|lib\/route)\.js$/ },
      handler(code) {
        if (!code.includes(SOURCE)) throw new Error(`Expected ${SOURCE} in router.`);
        return code.replace(SOURCE, "process.getBuiltinModule('node:http')");
      },
    },
  };
}
