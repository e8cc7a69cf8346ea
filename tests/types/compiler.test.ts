/** What the compiler infers, and what it refuses: each wrong program for the right reason. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type ts from 'typescript';
import { compileSources } from '../support/compileSources';
import { describeInSoak } from '../support/soak';
import { PREAMBLE, WRONG_PROGRAMS } from './wrongPrograms';

const at = (name: string): string => join(__dirname, `${name}.ts`);
const INFERENCE = readFileSync(at('inference'), 'utf8');

describeInSoak('The compiler', () => {
  let program: ts.Program;

  /** `[code, source at its start]` of each error. */
  function errorsOf(name: string): readonly (readonly [number, string])[] {
    const file = program.getSourceFile(at(name));
    if (file === undefined) throw new Error(`There is no program "${name}".`);
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].map(
      ({ code, start = 0 }) => [code, file.text.slice(start, start + 40)],
    );
  }

  before(() => {
    const variants = WRONG_PROGRAMS.flatMap(({ program: code, right, wrong }, index) => [
      [at(`right-${index}`), withPreamble(code.replace('@@', () => right))] as const,
      [at(`wrong-${index}`), withPreamble(code.replace('@@', () => wrong))] as const,
    ]);
    program = compileSources(new Map([[at('preamble'), PREAMBLE], [at('inference'), INFERENCE], ...variants]));
  });

  it('infers types as stated', () => {
    expect(errorsOf('preamble')).to.deep.equal([]);
    expect(errorsOf('inference')).to.deep.equal([]);
  });

  for (const [index, { what, errors }] of WRONG_PROGRAMS.entries())
    it(`refuses ${what}`, () => {
      expect(errorsOf(`right-${index}`)).to.deep.equal([]);
      const found = errorsOf(`wrong-${index}`);
      expect(found.map(([code, source], each) => [code, source.slice(0, errors[each]?.[1].length)])).to.deep.equal(
        errors,
      );
    });
});

/** Each program is a module of its own. */
function withPreamble(code: string): string {
  return `import { agent, assistant, getWeather, other, simpleSchema, SimpleSchema, tool, typed, ToolRegistry, v, z, z3 } from './preamble';
import type { ToolOutput } from './preamble';
${code}
export type { ToolOutput };
export { agent, assistant, getWeather, other, simpleSchema, SimpleSchema, tool, typed, ToolRegistry, v, z, z3 };
`;
}
