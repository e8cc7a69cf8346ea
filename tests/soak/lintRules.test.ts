/** Plants one violation of every lint rule of our own, and sees each one refused. */
import path from 'node:path';
import { expect } from 'chai';
import { ESLint } from 'eslint';
import tseslint from 'typescript-eslint';
import { REFUSED_CONSTRUCTS } from '../support/meteorBuild/refusedConstructs';

const ROOT = path.join(__dirname, '../..');
const AI = 'imports/business/ai';

/** [rule, file, its text] */
const LINTED: readonly (readonly [rule: string, file: string, text: string])[] = [
  ['no-restricted-syntax', `${AI}/domain/types/Level.ts`, 'export enum Level { Low, High }\n'],
  ['no-restricted-syntax', `${AI}/domain/types/Level.ts`, 'export default 1;\n'],
  ['no-restricted-syntax', `${AI}/domain/types/Level.ts`, "export * from './Actor';\n"],
  ['no-restricted-syntax', `${AI}/domain/types/Level.ts`, 'export class Level { #value = 1; }\n'],
  ['prefer-const', `${AI}/domain/types/Level.ts`, 'let level = 1;\nexport const now = level;\n'],
  ['check-file/filename-naming-convention', `${AI}/domain/types/Bad_name_file.ts`, 'export const level = 1;\n'],
  ['@stylistic/max-len', `${AI}/domain/types/Level.ts`, `// ${'long '.repeat(30)}\n`],
  ['no-restricted-syntax', `${AI}/infrastructure/converters/chat/usage.ts`, 'export const at = Date.now();\n'],
  ['no-restricted-syntax', `${AI}/infrastructure/converters/chat/usage.ts`, 'export const at = new Date();\n'],
  ['no-restricted-syntax', `${AI}/infrastructure/converters/chat/usage.ts`, 'export const id = Math.random();\n'],
  ['no-restricted-globals', `${AI}/infrastructure/converters/chat/usage.ts`, 'void fetch("http://localhost");\n'],
  ['no-restricted-globals', `${AI}/infrastructure/converters/chat/usage.ts`, 'setTimeout(() => {}, 1);\n'],
  ['no-restricted-syntax', `${AI}/domain/types/Level.ts`, 'export const load = (name: string) => import(name);\n'],
  ['@typescript-eslint/no-restricted-imports', 'imports/startup/createHost.ts', "import 'openai/helpers/zod';\n"],
  ['@typescript-eslint/no-restricted-imports', 'imports/ui/App.tsx', "import '@fontsource-variable/inter/wght.css';\n"],
  [
    '@typescript-eslint/no-restricted-imports',
    'server/main.ts',
    "import { createRequire } from 'node:module';\nexport { createRequire };\n",
  ],
  ...REFUSED_CONSTRUCTS.flatMap(({ source }) =>
    ['imports/ui/App.tsx', 'server/main.ts', `${AI}/infrastructure/converters/chat/usage.ts`].map(
      (file) => ['no-restricted-syntax', file, `${source}\n`] as const,
    ),
  ),
];

describe('the lint rules', () => {
  const eslint = new ESLint({
    cwd: ROOT,
    // The planted text is in no file on disk, which is what rules with types would read.
    overrideConfig: [
      { ...tseslint.configs.disableTypeChecked, files: ['**/*.{ts,tsx}'] },
      { files: ['**/*.{ts,tsx}'], languageOptions: { parserOptions: { project: null } } },
    ] as ESLint.Options['overrideConfig'] & object,
  });

  for (const [rule, file, text] of LINTED) {
    it(`${rule} refuses ${JSON.stringify(text.slice(0, 60))} in ${file}`, async () => {
      const [result] = await eslint.lintText(text, { filePath: path.join(ROOT, file) });
      expect(result?.messages.map(({ ruleId }) => ruleId)).to.include(rule);
    });
  }

  it('allow subpaths that are files, and types from any', async () => {
    const text = [
      "import { Ajv2020 } from 'ajv/dist/2020.js';",
      "import { createRoot } from 'react-dom/client';",
      "import type { Response } from 'openai/resources/responses/responses';",
      'export { Ajv2020, createRoot };',
      'export type { Response };\n',
    ].join('\n');
    const [result] = await eslint.lintText(text, { filePath: path.join(ROOT, 'imports/startup/createHost.ts') });
    expect(result?.messages).to.deep.equal([]);
  });

  it('allow a clock outside the converters', async () => {
    const [result] = await eslint.lintText('export const at = Date.now();\n', {
      filePath: path.join(ROOT, `${AI}/application/services/runs/RunDeadline.ts`),
    });
    expect(result?.messages).to.deep.equal([]);
  });
});
