import { Linter } from 'eslint';

/** What Meteor's module wrapper passes to every module. */
const MODULE_PARAMETERS = ['require', 'exports', 'module'];

/** The identifiers that compiled code reads but does not define. */
export function freeIdentifiers(code: string): ReadonlySet<string> {
  const messages = new Linter().verify(code, {
    languageOptions: {
      sourceType: 'script',
      globals: Object.fromEntries(MODULE_PARAMETERS.map((name) => [name, 'readonly'])),
    },
    linterOptions: { noInlineConfig: true },
    rules: { 'no-undef': 'error' },
  });
  return new Set(
    messages.map(({ message, fatal }) => {
      const name = /^'(.+)' is not defined/.exec(message)?.[1];
      if (fatal === true || name === undefined) throw new Error(message);
      return name;
    }),
  );
}
