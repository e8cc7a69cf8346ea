import { compile } from '@meteorjs/reify/lib/compiler';
import { parse } from '@meteorjs/reify/lib/parsers/acorn';
import { transformSync } from '@swc/core';
import type { Options } from '@swc/core';
import { checkModule } from './checkModule';
import type { MeteorArch } from './MeteorArch';

/** The oldest browsers of Meteor's legacy bundle. */
const LEGACY_TARGETS = {
  chrome: '49',
  edge: '15',
  firefox: '30',
  safari: '10',
  ios: '10',
  android: '5',
  opera: '42',
  ie: '11',
  node: '8',
  electron: '1.6',
};

/** The part of an app's `.swcrc` that these tests use. */
export interface SwcConfiguration {
  readonly jsc?: Options['jsc'];
}

/**
 * Compiles a file as Meteor 3.3 and newer do with `modern: true`: SWC with Meteor's options under the app's `.swcrc`,
 * then Reify for Meteor's module system.
 * https://github.com/meteor/meteor/blob/release/METEOR%403.4.1/packages/babel-compiler/babel-compiler.js
 * @returns the module's code, and SWC's output before Reify
 */
export function compileWithSwc(
  file: string,
  source: string,
  arch: MeteorArch,
  configuration: SwcConfiguration,
): { readonly code: string; readonly swcOutput: string } {
  const isLegacy = arch === 'web.browser.legacy';
  const { code: swcOutput } = transformSync(source, {
    swcrc: false,
    configFile: false,
    filename: file,
    sourceFileName: file,
    module: { type: 'es6' },
    jsc: {
      parser: { syntax: 'typescript', tsx: file.endsWith('.tsx') },
      ...(isLegacy ? {} : { target: 'es2015' }),
      ...(arch === 'os' ? {} : { externalHelpers: true }),
      ...configuration.jsc,
    },
    ...(isLegacy ? { env: { targets: LEGACY_TARGETS, mode: 'entry', coreJs: '3.37' } } : {}),
  });
  const { code } = compile(swcOutput, {
    parse,
    dynamicImport: true,
    enforceStrictMode: false,
    avoidModernSyntax: isLegacy,
    generateLetDeclarations: !isLegacy,
    ...(arch === 'os' ? { topLevelAwait: true } : {}),
  });
  checkModule(code, file);
  return { code, swcOutput };
}
