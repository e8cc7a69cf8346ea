/** Builds the npm package: `npm run build`. */
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { esmExternalRequirePlugin } from 'rolldown/plugins';
import { defineConfig } from 'tsdown';
import type { UserConfig } from 'tsdown';
import { ENTRIES } from './scripts/package/entries';
import { INLINED_PACKAGES, isInlined } from './scripts/package/inlinedPackages';
import { inlinePages } from './scripts/package/inlinePages';
import { inlineStyles } from './scripts/package/inlineStyles';
import { loadHttpLazily } from './scripts/package/loadHttpLazily';
import { loadSimulatorLazily } from './scripts/package/loadSimulatorLazily';
import { shrinkChunks } from './scripts/package/shrinkChunks';
import { preferInstalledSdks } from './scripts/package/preferInstalledSdks';
import { splitReact } from './scripts/package/splitReact';
import { NODE_TARGET, packageManifest } from './scripts/package/packageManifest';

const { peerDependencies } = packageManifest();

/** Large packages that every program reads but few use. */
const LAZY_PACKAGES =
  /node_modules\/(?:@valibot|depd|is-promise|parseurl|path-to-regexp|router|zod|zod-to-json-schema)\//;

/** Small modules that every entry loads: a file each would cost more than it saves. */
const LOADED_FIRST =
  /\/imports\/(?:business\/ai\/domain\/errors\/LLMErrors|library\/requireNode|log\/consoleLogger)\.ts$/;

const config: UserConfig = defineConfig({
  entry: {
    ...Object.fromEntries(Object.entries(ENTRIES).map(([name, file]) => [name, `imports/entries/${file}`])),
    // For `bin/bolide.mjs`: no entry of the package.
    commandLine: 'imports/host/node/commandLine/runCommandLine.ts',
  },
  outDir: 'build/package/dist',
  clean: ['build/package'],
  format: 'esm',
  outExtensions: () => ({ js: '.js', dts: '.d.ts' }),
  platform: 'node',
  target: NODE_TARGET,
  tsconfig: 'tsconfig.node.json',
  alias: { debug: join(__dirname, 'scripts/package/noDebug.cjs') },
  dts: true,
  // `__dirname`.
  shims: true,
  // Declarations keep the SDKs' types, which apps have that hand their objects in.
  deps: {
    alwaysBundle: (specifier, importer = '') =>
      /\.d\.[cm]?ts$/.test(importer) ? ['eventemitter3', 'valibot'].includes(specifier) : isInlined(specifier),
    neverBundle: Object.keys(peerDependencies).filter((name) => !isInlined(name)),
    // Nothing else is copied into the package: other packages are dependencies or peers.
    onlyBundle: [...INLINED_PACKAGES],
  },
  // No module of the sources does anything when it is loaded, so an entry loads only the chunks that it uses.
  treeshake: { moduleSideEffects: [{ test: /\/imports\/.*\.tsx?$/, sideEffects: false }] },
  // `ws` would look for packages that are faster and not needed: its own code is used.
  define: { 'process.env.WS_NO_BUFFER_UTIL': '"1"', 'process.env.WS_NO_UTF_8_VALIDATE': '"1"' },
  failOnWarn: true,
  checks: { legacyCjs: false, pluginTimings: false },
  report: false,
  // `shrinkChunks` minifies files that contain nothing else.
  outputOptions: {
    codeSplitting: {
      groups: [
        { name: 'packages', test: LAZY_PACKAGES },
        { name: 'base', test: LOADED_FIRST },
      ],
    },
  },
  plugins: [
    // In bundled packages. A file that defines `require` would be shared with those for browsers.
    esmExternalRequirePlugin({ external: [...builtinModules, /^node:/, '@opentelemetry/api'] }),
    loadHttpLazily(),
    loadSimulatorLazily(),
    preferInstalledSdks(),
    splitReact(),
    inlinePages(),
    inlineStyles(),
    shrinkChunks(),
  ],
});

export { config as default };
