/** Reads the source of a function: its parameters, and what it calls. */
import type * as Acorn from 'acorn';
import type { AnyFunction } from './variablesOf';

export type ParseModule = typeof Acorn;

export interface ParsedFunction {
  readonly parameters: readonly Acorn.Pattern[];
  /** The calls of the function itself, without those of functions within it, in their order. */
  readonly calls: readonly Acorn.CallExpression[];
  /** Whether it reads `arguments`. */
  readonly usesArguments: boolean;
}

/**
 * Reads an async function as its author wrote it: Meteor's compilers make a generator of it, within a function that may
 * be another one again (`_async_to_generator` of SWC, `_asyncToGenerator` of Babel).
 * @param variables those of the function
 * @returns undefined for what has no source, such as a bound function
 */
export function parseFunction(
  { parse }: ParseModule,
  read: AnyFunction,
  variables: ReadonlyMap<string, unknown>,
): ParsedFunction | undefined {
  const outer = parseSource(parse, read);
  if (outer === undefined) return undefined;
  const generator = generatorIn(outer.body) ?? generatorIn(delegate(parse, outer.body, variables));
  const { body, params } = generator ?? outer;
  const calls: Acorn.CallExpression[] = [];
  let usesArguments = false;
  walk(body, (node) => {
    if (node.type === 'Identifier' && node.name === 'arguments') usesArguments = true;
    if (node.type === 'CallExpression') calls.push(node);
  });
  // Without parameters of its own, a generator uses those of the function around it.
  return { parameters: params.length === 0 ? outer.params : params, calls, usesArguments };
}

function parseSource(parse: ParseModule['parse'], read: AnyFunction): Acorn.Function | undefined {
  const source = Function.prototype.toString.call(read);
  // A function, or a member of an object.
  for (const text of [`(${source})`, `({${source}})`]) {
    const found = tryParse(parse, text);
    if (found !== undefined) return found;
  }
  return undefined;
}

function tryParse(parse: ParseModule['parse'], text: string): Acorn.Function | undefined {
  try {
    const [statement] = parse(text, { ecmaVersion: 'latest' }).body;
    if (statement?.type !== 'ExpressionStatement') return undefined;
    const { expression } = statement;
    if (expression.type === 'FunctionExpression' || expression.type === 'ArrowFunctionExpression') return expression;
    if (expression.type !== 'ObjectExpression') return undefined;
    const [property] = expression.properties;
    return property?.type === 'Property' && property.value.type === 'FunctionExpression' ? property.value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The generator that the code makes an async function of. */
function generatorIn(code: Acorn.Node | undefined): Acorn.Function | undefined {
  let found: Acorn.Function | undefined;
  walk(code, (node) => {
    if (node.type === 'FunctionExpression' && node.generator) found ??= node;
  });
  return found;
}

/** The function to which another one passes on all that it is given: `return _add.apply(this, arguments)`. */
function delegate(
  parse: ParseModule['parse'],
  code: Acorn.Node,
  variables: ReadonlyMap<string, unknown>,
): Acorn.Node | undefined {
  let name: string | undefined;
  walk(code, (node) => {
    if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return;
    const { object, property } = node.callee;
    if (object.type === 'Identifier' && property.type === 'Identifier' && property.name === 'apply')
      name ??= object.name;
  });
  const called = name === undefined ? undefined : variables.get(name);
  return typeof called === 'function' ? parseSource(parse, called as AnyFunction)?.body : undefined;
}

/** Visits the code of one function: functions within it are visited, but not what they contain. */
function walk(code: unknown, visit: (node: Acorn.AnyNode) => void): void {
  if (Array.isArray(code)) code.forEach((each) => walk(each, visit));
  if (!isNode(code)) return;
  visit(code);
  if (!code.type.includes('Function')) Object.values(code).forEach((each) => walk(each, visit));
}

function isNode(value: unknown): value is Acorn.AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
