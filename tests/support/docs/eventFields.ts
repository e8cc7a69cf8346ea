/** The events of a run with the names of their fields, read from the type that defines them. */
import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from './markdown';

const SOURCE = join(ROOT, 'imports/business/ai/domain/types/AgentEvents.ts');

/** Event name → its own fields, without `type`, sorted; optional ones end with `?`. */
export function eventFields(): ReadonlyMap<string, readonly string[]> {
  const program = ts.createProgram([SOURCE], { strict: true, noLib: true, types: [] });
  const checker = program.getTypeChecker();
  const file = program.getSourceFile(SOURCE);
  const alias = file?.statements.find(
    (statement): statement is ts.TypeAliasDeclaration =>
      ts.isTypeAliasDeclaration(statement) && statement.name.text === 'AgentEventBody',
  );
  if (alias === undefined) throw new Error(`${SOURCE} does not define AgentEventBody.`);
  const union = checker.getTypeAtLocation(alias.name);
  if (!union.isUnion()) throw new Error('AgentEventBody is not a union.');
  return new Map(
    union.types.map((member) => {
      const properties = checker.getPropertiesOfType(member);
      const type = properties.find(({ name }) => name === 'type');
      const literal = type === undefined ? undefined : checker.getTypeOfSymbolAtLocation(type, alias);
      if (literal?.isStringLiteral() !== true) throw new Error('An event has no literal type.');
      const fields = properties
        .filter(({ name }) => name !== 'type')
        .map(({ name, flags }) => ((flags & ts.SymbolFlags.Optional) === 0 ? name : `${name}?`));
      return [literal.value, fields.toSorted()];
    }),
  );
}
