/** The fields of an argument's schema, for those who read it from a URL. */
import type * as v from 'valibot';
import type { ArgumentSchema } from './schemas';

/** Queries have texts only. `flag`: `true`, or the name alone. `list`: separated by commas. */
export type FieldKind = 'text' | 'number' | 'flag' | 'list';

/** @returns the kinds of the fields by name */
export function argumentFields(argument: ArgumentSchema): Readonly<Record<string, FieldKind>> {
  const { entries = {} } = argument as { readonly entries?: v.ObjectEntries };
  return Object.fromEntries(Object.entries(entries).map(([name, schema]) => [name, kindOf(schema as AnySchema)]));
}

interface AnySchema {
  readonly type: string;
  readonly wrapped?: AnySchema;
  readonly literal?: unknown;
  readonly options?: readonly AnySchema[];
}

function kindOf({ type, wrapped, literal, options }: AnySchema): FieldKind {
  if (wrapped !== undefined) return kindOf(wrapped);
  if (type === 'union' && options !== undefined) {
    const kinds = options.map(kindOf);
    return kinds.includes('list') ? 'list' : (kinds[0] ?? 'text');
  }
  if (type === 'number') return 'number';
  if (type === 'array') return 'list';
  return type === 'boolean' || typeof literal === 'boolean' ? 'flag' : 'text';
}
