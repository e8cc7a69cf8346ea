/** The parts of Meteor's module compiler that the tests use; it ships no types. */
declare module '@meteorjs/reify/lib/compiler' {
  export function compile(code: string, options: object): { readonly code: string };
}

declare module '@meteorjs/reify/lib/parsers/acorn' {
  export function parse(code: string): object;
}

declare module '@meteorjs/reify/lib/runtime' {
  /** Gives modules the functions that compiled code calls. */
  export function enable(prototype: object): void;
}
