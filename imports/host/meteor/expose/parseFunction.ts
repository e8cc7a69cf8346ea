/** Reads the source of a function: its parameters, and what it checks them against. */
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

/** @returns undefined for what has no source, such as a bound function */
export function parseFunction({ parse }: ParseModule, read: AnyFunction): ParsedFunction | undefined {
  const source = Function.prototype.toString.call(read);
  const found = [`(${source})`, `({${source}})`]
    .map((text) => tryParse(parse, text))
    .find((each) => each !== undefined);
  if (found === undefined) return undefined;
  const calls: Acorn.CallExpression[] = [];
  let usesArguments = false;
  const visit = (node: unknown): void => {
    if (Array.isArray(node)) node.forEach(visit);
    if (!isNode(node)) return;
    if (node.type === 'FunctionExpression' || node.type === 'FunctionDeclaration') return;
    if (node.type === 'Identifier' && node.name === 'arguments') usesArguments = true;
    if (node.type === 'CallExpression') calls.push(node);
    if (node.type !== 'ArrowFunctionExpression') Object.values(node).forEach(visit);
  };
  visit(found.body);
  return { parameters: found.params, calls, usesArguments };
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

function isNode(value: unknown): value is Acorn.AnyNode {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
