import stylistic from '@stylistic/eslint-plugin';
import checkFile from 'eslint-plugin-check-file';
import tseslint from 'typescript-eslint';

const everywhere = [
  { selector: 'TSEnumDeclaration', message: 'Use a union of literals, or a table `as const`, instead of an enum.' },
  {
    selector: 'ExportDefaultDeclaration',
    message: 'Export by name, so that one thing has one name in every file.',
  },
  { selector: 'ExportAllDeclaration', message: 'Import from the file that defines the export; barrels are not used.' },
  {
    selector: 'PrivateIdentifier',
    message: "Write `private`: Babel, in Meteor's older bundlers, does not compile `#name` methods.",
  },
];

/** Converters map values to values: the same input gives the same output, at any time and anywhere. */
const noClock = [
  { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: 'Converters read no clock.' },
  { selector: 'MemberExpression[object.name="Date"][property.name="now"]', message: 'Converters read no clock.' },
  {
    selector: 'MemberExpression[object.name="Math"][property.name="random"]',
    message: 'Converters are deterministic.',
  },
];
const IMPURE_GLOBALS = [
  'fetch',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
  'performance',
  'process',
];

export default tseslint.config(
  {
    ignores: [
      'node_modules',
      '.meteor/local',
      'tests/fixtures',
      'tests/support/mini-mongod.mjs',
      '.data',
      'bench/node_modules',
      'bench/.build',
    ],
  },
  ...tseslint.configs.strictTypeChecked,
  {
    plugins: { '@stylistic': stylistic, 'check-file': checkFile },
    languageOptions: { parserOptions: { project: 'tsconfig.node.json', tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/consistent-type-imports': [
        'error',
        { fixStyle: 'separate-type-imports', disallowTypeAnnotations: false },
      ],
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-unnecessary-condition': [
        'error',
        { allowConstantLoopConditions: 'only-allowed-literals' },
      ],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      eqeqeq: 'error',
      'no-console': 'off',
      'prefer-const': ['error', { destructuring: 'all' }],
      'no-restricted-syntax': ['error', ...everywhere],
      // Prettier breaks code at 120 columns, but neither comments nor what it can't break.
      '@stylistic/max-len': [
        'error',
        {
          code: 140,
          comments: 120,
          ignoreUrls: true,
          ignoreStrings: true,
          ignoreTemplateLiterals: true,
          ignoreRegExpLiterals: true,
        },
      ],
      'check-file/filename-naming-convention': [
        'error',
        { '**/*.{ts,tsx}': '@(+([A-Z])*([a-zA-Z0-9])|+([a-z])*([a-zA-Z0-9]))' },
        { ignoreMiddleExtensions: true },
      ],
    },
  },
  {
    // What is loaded by name from elsewhere: Meteor's test runner and node's own loaders ask for default exports.
    files: ['**/*.mjs', '**/*.cjs'],
    rules: { 'no-restricted-syntax': 'off', '@typescript-eslint/no-require-imports': 'off' },
  },
  {
    // Stubs and declarations bear the names, and have the exports, of the packages that they stand for.
    files: ['tests/stubs/meteor/*.ts', '**/*.d.ts'],
    rules: { 'check-file/filename-naming-convention': 'off', 'no-restricted-syntax': 'off' },
  },
  {
    files: ['imports/business/ai/infrastructure/converters/**/*.ts'],
    rules: {
      'no-restricted-globals': ['error', ...IMPURE_GLOBALS],
      'no-restricted-syntax': ['error', ...everywhere, ...noClock],
    },
  },
  {
    // Mocha's suites return promises to nobody, chai's assertions are expressions, and doubles are deliberately odd.
    files: ['tests/**/*.ts', 'tests/**/*.tsx'],
    rules: {
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/require-await': 'off',
    },
  },
  { files: ['**/*.mjs', '**/*.cjs'], ...tseslint.configs.disableTypeChecked },
);
