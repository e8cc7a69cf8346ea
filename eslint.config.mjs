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
  {
    selector: 'MemberExpression[object.name="URL"][property.name="canParse"]',
    message: 'Use parseUrl: in optimized code, URL.canParse refuses valid URLs with letters such as "ü".',
  },
];

/**
 * What Meteor's compilers refuse, or compile to code that fails. tests/soak/meteorCompilers.test.ts runs them on
 * every construct: SWC in Meteor 3.3 and newer, Babel before and as its fallback.
 */
const refusedByMeteor = [
  { selector: 'StaticBlock', message: "Meteor's Babel does not compile static blocks." },
  {
    selector: ':matches(AccessorProperty, TSAbstractAccessorProperty)',
    message: "Meteor's compilers do not parse `accessor`.",
  },
  { selector: 'Decorator', message: "Meteor's SWC does not parse decorators." },
  {
    selector: ':matches(BinaryExpression[operator="**"], AssignmentExpression[operator="**="]):has(> Literal[bigint])',
    message: "Meteor's compilers turn `**` into Math.pow, which throws for BigInt. Multiply or shift.",
  },
  {
    selector: 'MetaProperty[meta.name="import"]',
    message: 'Meteor runs modules as scripts, where `import.meta` does not parse.',
  },
  {
    selector: ':matches(AwaitExpression, ForOfStatement[await=true]):not(:function *)',
    message: 'Meteor refuses top-level `await` on clients, and top-level `for await` anywhere.',
  },
  {
    selector: 'VariableDeclaration:matches([kind="using"], [kind="await using"])',
    message: "Meteor's Babel does not compile `using`.",
  },
  {
    selector: ':matches(ExportSpecifier[exported.type="Literal"], ImportSpecifier[imported.type="Literal"])',
    message: "Meteor's Babel does not parse string names of exports.",
  },
  {
    selector: ':matches(TSImportEqualsDeclaration, TSExportAssignment)',
    message: "Use `import` and `export`: Meteor's SWC refuses `import =` and `export =`.",
  },
  {
    selector: 'ImportExpression:not([source.type="Literal"])',
    message: "Import a literal specifier: Meteor's bundler includes only what it can read from the source.",
  },
];
/** Subpaths that are files, so that bundlers which ignore `exports` find them. */
const IMPORTED_SUBPATHS = ['ajv/dist/2020.js', 'react-dom/client'];
const SUBPATH = `^(?!(?:node:|meteor/|(?:${IMPORTED_SUBPATHS.join('|')})$))(?:@[^/]+/[^/]+|[^@./][^/]*)/.+`;

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
      '.data',
      'bench/node_modules',
      'bench/.build',
      '_build',
      // Written by `npm run build:worker`.
      'imports/business/ai/application/services/schema/worker/schemaWorkerSource.ts',
      'build',
      // Meteor's build tool runs it as a script.
      'packages/*/package.js',
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
      // There are no enums. The rule would take a tenth of the time of all others.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
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
    files: ['**/*.mjs', '**/*.cjs', 'rspack.config.js'],
    rules: { 'no-restricted-syntax': 'off', '@typescript-eslint/no-require-imports': 'off' },
  },
  {
    // Stubs and declarations bear the names, and have the exports, of the packages that they stand for.
    files: ['tests/stubs/meteor/*.ts', 'tests/stubs/client/*.ts', '**/*.d.ts'],
    rules: { 'check-file/filename-naming-convention': 'off', 'no-restricted-syntax': 'off' },
  },
  {
    // What Meteor compiles and bundles.
    files: ['imports/**/*.{ts,tsx}', 'client/**/*.{ts,tsx}', 'server/main.ts', 'examples/meteor/**', 'tests/meteor/**'],
    rules: {
      'no-restricted-syntax': ['error', ...everywhere, ...refusedByMeteor],
      '@typescript-eslint/no-restricted-imports': [
        'error',
        {
          paths: [
            { name: 'node:module', message: 'Paths of bundled modules do not exist on disk; import what you need.' },
            { name: 'module', message: 'Paths of bundled modules do not exist on disk; import what you need.' },
          ],
          patterns: [
            {
              regex: SUBPATH,
              message: "Import packages by their root: Meteor's classic bundler ignores `exports`.",
              allowTypeImports: true,
            },
          ],
        },
      ],
    },
  },
  {
    files: ['imports/business/ai/infrastructure/converters/**/*.ts'],
    rules: {
      'no-restricted-globals': ['error', ...IMPURE_GLOBALS],
      'no-restricted-syntax': ['error', ...everywhere, ...refusedByMeteor, ...noClock],
    },
  },
  {
    // Mocha's suites return promises to nobody, chai's assertions are expressions, and doubles are deliberately odd.
    files: ['tests/**/*.ts', 'tests/**/*.tsx'],
    rules: {
      '@typescript-eslint/no-unused-expressions': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/require-await': 'off',
      // These two take a quarter of the time of all rules, and what they find would reach no user.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-deprecated': 'off',
    },
  },
  { files: ['**/*.mjs', '**/*.cjs', 'rspack.config.js'], ...tseslint.configs.disableTypeChecked },
);
