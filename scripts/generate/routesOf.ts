/** The routes of an Express router as `GET /v1/responses/:id`. */

interface Layer {
  readonly route?: { readonly path: string | RegExp; readonly methods: Readonly<Record<string, boolean>> };
  readonly handle?: { readonly stack?: readonly Layer[] };
}

export function routesOf(router: object): readonly string[] {
  return (router as { readonly stack: readonly Layer[] }).stack.flatMap(({ route, handle }) => {
    if (route === undefined) return handle?.stack === undefined ? [] : routesOf({ stack: handle.stack });
    return Object.keys(route.methods)
      .filter((method) => !method.startsWith('_') && method !== 'head')
      .map((method) => `${method.toUpperCase()} ${pathOf(route.path)}`);
  });
}

/** A path that is a regular expression, with its groups as parameters, and one for all versions of Google's API. */
function pathOf(path: string | RegExp): string {
  if (typeof path === 'string') return path.replace(/\{(.+)\}/, '$1');
  return path.source
    .replace(/^\^|\$$/g, '')
    .replaceAll('\\/', '/')
    .replace(/\(\?:models\/\)\?/, 'models/')
    .replace(/\(\?:beta\|alpha\)\??/, 'beta')
    .replace('(?::[a-z\\d.-]+)?', '')
    .replace(/\(\?<(\w+)>[^()]+\)/g, ':$1')
    .replace(/\.\+$/, ':file');
}
