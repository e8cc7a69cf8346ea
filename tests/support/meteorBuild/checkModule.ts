import { Script } from 'node:vm';

/**
 * Parses compiled code as Meteor runs it: as the body of a function in a script, not as an ES module.
 * @throws SyntaxError if what the compiler left in place does not parse there
 */
export function checkModule(code: string, file: string): void {
  new Script(`(function (require, exports, module) {${code}\n})`, { filename: file });
}
