/**
 * The packages whose code is in the npm package. A file costs about a millisecond to find, read and compile, and an ES
 * module that imports CommonJS costs 60 more, once; vendors' SDKs have over 200 files each.
 */

/** Imported by entries that every program loads. */
const LIBRARIES = [
  '@valibot/to-json-schema',
  'ajv',
  'ajv-formats',
  'cors',
  'croner',
  'eventemitter3',
  'eventsource-parser',
  'ipaddr.js',
  'lru-cache',
  'minisearch',
  'p-limit',
  'valibot',
  'yaml',
  'zod-to-json-schema',
  // What these import.
  'fast-deep-equal',
  'fast-uri',
  'json-schema-traverse',
  'object-assign',
  'vary',
  'yocto-queue',
  'zod',
];

/** Imported by servers, some of them when they are first needed. */
const SERVER_LIBRARIES = [
  '@fastify/busboy',
  'acorn',
  'oauth4webapi',
  'prom-client',
  'router',
  'ws',
  // What these import.
  'bintrees',
  'depd',
  'is-promise',
  'parseurl',
  'path-to-regexp',
  'tdigest',
];

/** Imported by `npx bolide` only; the second is types. */
const COMMAND_LINE = ['commander', '@commander-js/extra-typings'];

/** Each in a file of its own, which is loaded with the first request to a vendor that needs it. */
const VENDOR_SDKS = [
  'openai',
  '@anthropic-ai/sdk',
  'groq-sdk',
  // What these import.
  '@stablelib/base64',
  'fast-sha256',
  'standardwebhooks',
];

/** In `bolide/react`. */
const PAGES = ['marked', 'diff', '@tanstack/react-virtual', '@tanstack/virtual-core', 'uplot'];

export const INLINED_PACKAGES: readonly string[] = [
  ...LIBRARIES,
  ...SERVER_LIBRARIES,
  ...COMMAND_LINE,
  ...VENDOR_SDKS,
  ...PAGES,
];

/** What the package's files contain of other packages: the dashboard's, and those of the entries. */
export const BUNDLED_PACKAGES: readonly string[] = [
  'react',
  'react-dom',
  'scheduler',
  '@fontsource-variable/inter',
  ...INLINED_PACKAGES,
];

/** Whether an import, such as `ajv/dist/2020.js`, is of an inlined package. */
export function isInlined(specifier: string): boolean {
  return INLINED_PACKAGES.some((name) => specifier === name || specifier.startsWith(`${name}/`));
}
