import type { MeteorArch } from './MeteorArch';

/**
 * How a construct fails: a compiler refuses it; or what the compiler leaves in place is refused by the engine, because
 * Meteor runs modules as functions in scripts; or the code runs and is wrong.
 */
export interface RefusedConstruct {
  readonly name: string;
  readonly source: string;
  /** The compilers that refuse it, or whose output does not parse. */
  readonly refusedBy: readonly ('SWC' | 'Babel')[];
  /** The program in which they do. */
  readonly arch: MeteorArch;
  /** Part of the output that is wrong although it parses. */
  readonly miscompiledTo?: string;
  /** The compilers with that output. Default: all. */
  readonly miscompiledBy?: readonly ('SWC' | 'Babel')[];
}

/** Verified against @swc/core 1.15.3 and @meteorjs/babel 7.20.1, the versions of Meteor 3.4 and of 3.0.4 to 3.4. */
export const REFUSED_CONSTRUCTS: readonly RefusedConstruct[] = [
  {
    name: 'private methods',
    source: 'export class A { #x() { return 1; } y() { return this.#x(); } }',
    refusedBy: ['Babel'],
    arch: 'os',
  },
  {
    name: 'private fields with `in`',
    source: 'export class A { #x = 1; static is(o: object) { return #x in o; } }',
    refusedBy: ['Babel'],
    arch: 'web.browser.legacy',
  },
  {
    name: 'static blocks',
    source: 'export class A { static y: number; static { A.y = 1; } }',
    refusedBy: ['Babel'],
    arch: 'os',
  },
  { name: 'accessors', source: 'export class A { accessor y = 1; }', refusedBy: ['SWC', 'Babel'], arch: 'os' },
  {
    name: 'decorators',
    source: 'declare const d: MethodDecorator; export class A { @d m() {} }',
    refusedBy: ['SWC'],
    arch: 'os',
  },
  {
    name: '`**`, which becomes Math.pow and throws for BigInt',
    source: 'export const f = (a: bigint) => a ** 2n;',
    refusedBy: [],
    arch: 'os',
    miscompiledTo: 'Math.pow(a, 2n)',
  },
  {
    name: '`**=`, which becomes Math.pow and throws for BigInt',
    source: 'export const f = (a: bigint) => { a **= 2n; return a; };',
    refusedBy: [],
    arch: 'os',
    miscompiledTo: 'Math.pow(a, 2n)',
  },
  { name: 'import.meta', source: 'export const u = import.meta.url;', refusedBy: ['SWC', 'Babel'], arch: 'os' },
  {
    name: 'top-level await',
    source: 'export const x = await Promise.resolve(1);',
    refusedBy: ['SWC', 'Babel'],
    arch: 'web.browser',
  },
  {
    name: 'top-level `for await`',
    source: 'for await (const x of [1]) console.log(x); export {};',
    refusedBy: ['SWC', 'Babel'],
    arch: 'os',
  },
  {
    name: '`using`, which older Babel refuses, and newer leaves to engines that may lack it',
    source: 'export function f(x: Disposable) { using y = x; return y; }',
    refusedBy: [],
    arch: 'os',
    miscompiledTo: 'using y = x',
    miscompiledBy: ['Babel'],
  },
  {
    name: '`await using`, in the same way',
    source: 'export async function f(x: AsyncDisposable) { await using y = x; return y; }',
    refusedBy: [],
    arch: 'os',
    miscompiledTo: 'await using y = x',
    miscompiledBy: ['Babel'],
  },
  {
    name: 'string export names',
    source: "const a = 1; export { a as 'b c' };",
    refusedBy: ['Babel'],
    arch: 'os',
  },
  {
    name: '`import =`',
    source: "import fs = require('node:fs'); export const x = fs.constants;",
    refusedBy: ['SWC'],
    arch: 'os',
  },
  { name: '`export =`', source: 'const a = 1; export = a;', refusedBy: ['SWC'], arch: 'os' },
];
