/**
 * Lint rules of our own, as a plugin of oxlint. Most refuse the nodes that ESQuery selectors find and for which `where`
 * holds. tests/smoke/lintRules.test.ts plants violations.
 */
import { basename } from 'node:path';

const conventions = [
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
const SUBPATH = /^(?!node:|meteor\/)(?:@[^/]+\/[^/]+|[^@./][^/]*)\/./;

/** What Meteor's bundlers do not find. */
const unbundled = [
  {
    selector: ':matches(ImportDeclaration, ExportNamedDeclaration[source])',
    where: ({ source }) => /^(?:node:)?module$/.test(source.value),
    message: 'Paths of bundled modules do not exist on disk; import what you need.',
  },
  {
    selector: ':matches(ImportDeclaration[importKind="value"], ExportNamedDeclaration[exportKind="value"][source])',
    where: ({ source }) => SUBPATH.test(source.value) && !IMPORTED_SUBPATHS.includes(source.value),
    message: "Import packages by their root: Meteor's classic bundler ignores `exports`.",
  },
];

/** Converters map values to values: the same input gives the same output, at any time and anywhere. */
const impure = [
  { selector: 'NewExpression[callee.name="Date"][arguments.length=0]', message: 'Converters read no clock.' },
  { selector: 'MemberExpression[object.name="Date"][property.name="now"]', message: 'Converters read no clock.' },
  {
    selector: 'MemberExpression[object.name="Math"][property.name="random"]',
    message: 'Converters are deterministic.',
  },
];

/** `...(a === undefined ? {} : { a })`, which is several times as long as `a`. */
const conditionalSpreads = [
  {
    selector: ':matches(SpreadElement, JSXSpreadAttribute) > ConditionalExpression',
    where: ({ test: { operator, left, right }, consequent, alternate }) => {
      if (left?.name !== 'undefined' && right?.name !== 'undefined') return false;
      const [absent, present] = operator === '===' ? [consequent, alternate] : [alternate, consequent];
      return membersOf(absent) === 0 && membersOf(present) === 1;
    },
    message:
      'Write the member itself if its type is `?: T | undefined`; otherwise, in what is stored, sent or compared, ' +
      'use omitUndefined.',
  },
];

/** One file reads the variables, so that one error names every wrong one. */
const environment = [
  {
    selector: 'MemberExpression[object.name="process"][property.name="env"]',
    message: 'Take the environment as an argument, or processEnvironment() of imports/host/settings/environment.ts.',
  },
];

/** The formatter breaks code at 120 columns, but not comments. */
const MAX_COLUMNS = 120;
const WITH_URL = /[^:/?#]:\/\/[^?#]/;

const commentLength = {
  create: (context) => ({
    Program() {
      const { lines } = context.sourceCode;
      const isLong = (text) => text.length > MAX_COLUMNS && !WITH_URL.test(text);
      // Few files have any, and finding the comments takes time.
      if (!lines.some(isLong)) return;
      for (const { loc } of context.sourceCode.getAllComments())
        for (let { line } = loc.start; line <= loc.end.line; line += 1)
          if (isLong(lines[line - 1]))
            context.report({
              loc: { start: { line, column: 0 }, end: { line, column: lines[line - 1].length } },
              message: `Break the comment at ${MAX_COLUMNS} columns.`,
            });
    },
  }),
};

/** First words that point at something which the comment does not name. */
const HEADLESS = /^[*\s]*(?:Of|Those|As|Its|There|Whoever)\b/;
const MAYBE_HEADLESS = /(?:\/\/|\*)\s*(?:Of|Those|As|Its|There|Whoever)\b/;

const commentStart = {
  create: (context) => ({
    Program() {
      const { sourceCode } = context;
      // Few files have any, and finding the comments takes time.
      if (!MAYBE_HEADLESS.test(sourceCode.text)) return;
      let last;
      for (const comment of sourceCode.getAllComments()) {
        if (HEADLESS.test(comment.value) && !continues(comment, last))
          context.report({
            loc: comment.loc,
            message:
              'Begin the comment with its subject: a noun for a type, field or value ("The id of …"), a verb for a ' +
              'function ("Returns …"), or else a sentence.',
          });
        last = comment;
      }
    },
  }),
};

const fileNames = {
  create: (context) => ({
    Program(node) {
      if (/^[a-z][a-z0-9]*[.]/i.test(basename(context.filename))) return;
      context.report({ node, message: 'Name files after their export, in camelCase or PascalCase.' });
    },
  }),
};

export default {
  meta: { name: 'bolide' },
  rules: {
    'comment-length': commentLength,
    'comment-start': commentStart,
    'conditional-spreads': refuse(conditionalSpreads),
    conventions: refuse(conventions),
    environment: refuse(environment),
    'file-names': fileNames,
    meteor: refuse([...refusedByMeteor, ...unbundled]),
    'pure-converters': refuse(impure),
  },
};

/** @returns undefined for anything but an object literal */
function membersOf({ type, properties }) {
  return type === 'ObjectExpression' ? properties.length : undefined;
}

/** Whether two `//` comments are lines of one comment. */
function continues({ type, loc: { start } }, previous) {
  if (type !== 'Line' || previous?.type !== 'Line') return false;
  return previous.loc.start.line === start.line - 1 && previous.loc.start.column === start.column;
}

function refuse(restrictions) {
  return {
    create: (context) =>
      Object.fromEntries(
        restrictions.map(({ selector, where = () => true, message }) => [
          selector,
          (node) => {
            if (where(node)) context.report({ node, message });
          },
        ]),
      ),
  };
}
