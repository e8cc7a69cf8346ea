/** Breaks every lint rule of our own and every one that needs types, and sees each break refused by `npm run check`. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { PLANTED_VIOLATIONS } from '../support/lint/plantedViolations';
import { REFUSED_CONSTRUCTS } from '../support/meteorBuild/refusedConstructs';

const ROOT = path.join(__dirname, '../..');
const OXLINT = path.join(ROOT, 'node_modules/oxlint/bin/oxlint');
const AI = 'imports/business/ai';

/** [rule, file, its text]; `*` in a file is replaced by the number of the row. */
const LINTED: readonly (readonly [rule: string, file: string, text: string])[] = [
  ['bolide/conventions', `${AI}/domain/types/planted*.ts`, 'export enum Level { Low, High }'],
  ['bolide/conventions', `${AI}/domain/types/planted*.ts`, 'export default 1;'],
  ['bolide/conventions', `${AI}/domain/types/planted*.ts`, "export * from './Actor';"],
  ['bolide/conventions', `${AI}/domain/types/planted*.ts`, 'export class Level { #value = 1; }'],
  ['bolide/conventions', 'scripts/planted*.ts', "export const isUrl = URL.canParse('http://localhost');"],
  ['bolide/file-names', `${AI}/domain/types/Bad_name_file.ts`, 'export const level = 1;'],
  ['bolide/comment-length', `${AI}/domain/types/planted*.ts`, `// ${'long '.repeat(30)}`],
  ['bolide/comment-length', 'scripts/planted*.mjs', `const a = 1; // ${'long '.repeat(30)}`],
  ['bolide/comment-start', `${AI}/domain/types/planted*.ts`, '/** Of the last call. */\nexport const time = 1;'],
  ['bolide/comment-start', 'tests/unit/planted*.ts', '/**\n * As the vendor names it.\n */\nexport const model = 1;'],
  ['bolide/comment-start', 'scripts/planted*.mjs', 'export const a = 1; // The first.\n// Those that follow.'],
  [
    'bolide/conditional-spreads',
    `${AI}/domain/types/planted*.ts`,
    'export const f = (a?: string) => ({ ...(a === undefined ? {} : { a }) });',
  ],
  [
    'bolide/conditional-spreads',
    'server/planted*.ts',
    'export const f = (a?: Error) => ({ ...(undefined !== a ? { text: a.message } : {}) });',
  ],
  [
    'bolide/conditional-spreads',
    'imports/ui/planted*.tsx',
    'export const F = ({ id }: { readonly id?: string }) => <p {...(id === undefined ? {} : { id })} />;',
  ],
  ['bolide/environment', 'imports/host/planted*.ts', "export const port = process.env['PORT'];"],
  ['bolide/environment', 'server/planted*.ts', 'export const { PORT } = process.env;'],
  ['bolide/pure-converters', `${AI}/infrastructure/converters/planted*.ts`, 'export const at = Date.now();'],
  ['bolide/pure-converters', `${AI}/infrastructure/converters/planted*.ts`, 'export const at = new Date();'],
  ['bolide/pure-converters', `${AI}/infrastructure/converters/chat/planted*.ts`, 'export const id = Math.random();'],
  ['eslint/no-restricted-globals', `${AI}/infrastructure/converters/planted*.ts`, "void fetch('http://localhost');"],
  ['eslint/no-restricted-globals', `${AI}/infrastructure/converters/planted*.ts`, 'setTimeout(() => {}, 1);'],
  ['bolide/meteor', `${AI}/domain/types/planted*.ts`, 'export const load = (name: string) => import(name);'],
  ['bolide/meteor', 'imports/host/planted*.ts', "import 'openai/helpers/zod';"],
  ['bolide/meteor', 'imports/host/planted*.ts', "export { zodTool } from 'openai/helpers/zod';"],
  ['bolide/meteor', 'imports/ui/planted*.tsx', "import '@fontsource-variable/inter/wght.css';"],
  [
    'bolide/meteor',
    'imports/ui/planted*.tsx',
    "import { createRequire } from 'node:module';\nexport { createRequire };",
  ],
  ['bolide/meteor', 'server/main.ts', 'export class A { static { console.log(1); } }'],
  ['bolide/meteor', 'client/planted*.tsx', 'export class A { static { console.log(1); } }'],
  ['bolide/meteor', `${AI}/infrastructure/converters/planted*.ts`, 'export class A { static { console.log(1); } }'],
  ...REFUSED_CONSTRUCTS.map(({ source }) => {
    // `#name` is refused everywhere.
    const rule = /#\w/.test(source) ? 'bolide/conventions' : 'bolide/meteor';
    return [rule, 'imports/ui/planted*.tsx', source] as const;
  }),
  ...PLANTED_VIOLATIONS.map(([rule, text]) => [rule, 'scripts/planted*.ts', text] as const),
];

/** What the rules must let pass: [file, its text]. */
const UNLINTED: readonly (readonly [file: string, text: string])[] = [
  [
    'imports/host/subpaths.ts',
    `import { Ajv2020 } from 'ajv/dist/2020.js';
import { createRoot } from 'react-dom/client';
import type { Response } from 'openai/resources/responses/responses';
export { Ajv2020, createRoot };
export type { Response };`,
  ],
  [
    `${AI}/domain/types/spreads.ts`,
    `export const two = (a?: Error) => ({ ...(a === undefined ? {} : { name: a.name, text: a.message }) });
export const other = (a: string) => ({ ...(a === '' ? {} : { a }) });
export const unset = (a?: string) => ({ ...(a === undefined ? { a: true } : {}) });
export const either = (a?: string) => ({ ...(a === undefined ? { b: 1 } : { a }) });`,
  ],
  ['scripts/spreads.ts', 'export const f = (a?: string) => ({ ...(a === undefined ? {} : { a }) });'],
  [`${AI}/application/services/runs/clock.ts`, 'export const at = Date.now();'],
  ['scripts/static.ts', 'export class A { a = 1; static b: number; static { A.b = 1; } }'],
  ['scripts/loader.mjs', 'export default 1;'],
  ['scripts/kebab-case.mjs', `// https://example.org/${'long/'.repeat(30)}`],
  [
    'scripts/comments.ts',
    '// Offers are read in two steps.\n// Of those, the first is free.\n/* It has two lines.\n * As here. */',
  ],
  ['scripts/texts.ts', "export const text = '// Of a comment';"],
  ['scripts/strings.ts', `export const text = '${'long '.repeat(30)}';`],
  ['scripts/numbers.ts', 'export const f = (a: number, b: boolean): string => `${a} ${b}`;'],
  ['scripts/loops.ts', 'export async function f(): Promise<never> { while (true) await Promise.resolve(); }'],
  ['tests/unit/doubles.ts', 'export const double = async (a?: number): Promise<number> => a!;'],
];

interface Diagnostic {
  readonly filename: string;
  readonly code?: string;
}

describe('the lint rules', () => {
  let diagnostics: readonly Diagnostic[] = [];

  before(async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'bolide-lint-'));
    try {
      const files = [
        '.oxlintrc.json',
        'scripts/lint/bolide.mjs',
        'tsconfig.json',
        'tsconfig.node.json',
        'package.json',
      ];
      for (const file of files) await cp(path.join(ROOT, file), path.join(folder, file));
      await symlink(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'), 'dir');
      const planted = LINTED.map(([, file, text], row) => [fileOf(file, row), text] as const);
      for (const [file, text] of [...planted, ...UNLINTED]) {
        await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
        await writeFile(path.join(folder, file), `${text}\n`, { flag: 'wx' });
      }
      // It exits with 1, because it finds something.
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [OXLINT, '--format', 'json', 'imports', 'server', 'client', 'scripts', 'tests'],
        { cwd: folder, maxBuffer: 64 * 1024 * 1024 },
      ).catch((error: unknown) => error as { readonly stdout: string });
      ({ diagnostics } = JSON.parse(stdout) as { readonly diagnostics: readonly Diagnostic[] });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  function fileOf(file: string, row: number): string {
    return file.replace('*', String(row));
  }

  function rulesBrokenBy(file: string): readonly (string | undefined)[] {
    return diagnostics.filter(({ filename }) => filename === file).map(({ code }) => code);
  }

  for (const [row, [rule, file, text]] of LINTED.entries()) {
    it(`${rule} refuses ${JSON.stringify(text.slice(0, 60))} in ${file}`, () => {
      expect(rulesBrokenBy(fileOf(file, row))).to.include(rule.replace(/^(.+)\/(.+)$/, '$1($2)'));
    });
  }

  for (const [file, text] of UNLINTED) {
    it(`allow ${JSON.stringify(text.slice(0, 60))} in ${file}`, () => {
      expect(rulesBrokenBy(file)).to.deep.equal([]);
    });
  }
});
