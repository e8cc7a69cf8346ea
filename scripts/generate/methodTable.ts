/** The table of methods of Meteor's clients, which cannot import the operations: they contain the server. */
import type { AnyOperation } from '../../imports/host/defineOperation';
import { describeSchema } from '../../imports/host/describeSchema';
import type { MethodKinds } from '../../imports/ui/data/meteor/MethodKinds';

export function methodTable(operations: readonly AnyOperation[]): MethodKinds {
  const table: Record<string, Record<string, MethodKinds[string][string]>> = {};
  for (const operation of operations) {
    const [, group = '', name = ''] = operation.name.split('.');
    (table[group] ??= {})[name] = kindOf(operation);
  }
  return table;
}

function kindOf({ argument, reads }: AnyOperation): MethodKinds[string][string] {
  const { properties = {} } = describeSchema(argument) as { readonly properties?: object };
  if ('requestId' in properties) return 'identified';
  return reads === undefined ? 'once' : 'repeatable';
}
