/** Finds out what an expression of a method's source stands for, as far as that needs no code of the app to run. */
import type { Expression, Property, SpreadElement } from 'acorn';

export interface Names {
  readonly variables: ReadonlyMap<string, unknown>;
  /** `import { Match } from 'meteor/check'` */
  readonly Match: Readonly<Record<string, unknown>>;
}

/** What cannot be found out. */
export const UNKNOWN: unique symbol = Symbol('unknown');

const CLASSES: ReadonlyMap<string, unknown> = new Map<string, unknown>(
  Object.entries({ String, Number, Boolean, Object, Array, Date, Function, undefined }),
);

export function evaluate(node: Expression | SpreadElement, names: Names): unknown {
  const inner = (each: Expression | SpreadElement): unknown => {
    const value = evaluate(each, names);
    return value === UNKNOWN ? names.Match['Any'] : value;
  };
  switch (node.type) {
    case 'Literal':
      return node.value;
    case 'Identifier':
      if (names.variables.has(node.name)) return names.variables.get(node.name);
      if (node.name === 'Match') return names.Match;
      return CLASSES.has(node.name) ? CLASSES.get(node.name) : UNKNOWN;
    case 'UnaryExpression': {
      const value = evaluate(node.argument, names);
      if (node.operator === 'void') return undefined;
      return node.operator === '-' && typeof value === 'number' ? -value : UNKNOWN;
    }
    case 'SequenceExpression': {
      const last = node.expressions.at(-1);
      return last === undefined ? UNKNOWN : evaluate(last, names);
    }
    case 'ArrayExpression':
      return node.elements.map((element) => (element === null ? undefined : inner(element)));
    case 'ObjectExpression':
      return evaluateObject(node.properties, names, inner);
    case 'MemberExpression': {
      if (node.computed || node.property.type !== 'Identifier') return UNKNOWN;
      const { name } = node.property;
      // Bundlers make of an imported `Match` a member of its module.
      if (name === 'Match') return names.Match;
      const object = node.object.type === 'Super' ? UNKNOWN : evaluate(node.object, names);
      if ((typeof object !== 'object' && typeof object !== 'function') || object === null || !(name in object))
        return UNKNOWN;
      return (object as Readonly<Record<string, unknown>>)[name];
    }
    case 'CallExpression': {
      const { callee } = node;
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return UNKNOWN;
      if (callee.object.type === 'Super' || evaluate(callee.object, names) !== names.Match) return UNKNOWN;
      const { name } = callee.property;
      const combine = Object.hasOwn(names.Match, name) ? names.Match[name] : undefined;
      // Conditions are functions of the app.
      return typeof combine !== 'function' || name === 'Where' || name.startsWith('_') || name === 'test'
        ? UNKNOWN
        : (combine as (...patterns: readonly unknown[]) => unknown)(...node.arguments.map(inner));
    }
    default:
      return UNKNOWN;
  }
}

function evaluateObject(
  properties: readonly (Property | SpreadElement)[],
  names: Names,
  inner: (node: Expression | SpreadElement) => unknown,
): unknown {
  const fields: Record<string, unknown> = {};
  for (const property of properties) {
    if (property.type === 'SpreadElement') {
      const spread = evaluate(property.argument, names);
      if (typeof spread !== 'object' || spread === null) return UNKNOWN;
      Object.assign(fields, spread);
      continue;
    }
    const { key } = property;
    const name = key.type === 'Identifier' ? key.name : key.type === 'Literal' ? String(key.value) : undefined;
    if (name === undefined || property.computed) return UNKNOWN;
    fields[name] = inner(property.value);
  }
  return fields;
}
