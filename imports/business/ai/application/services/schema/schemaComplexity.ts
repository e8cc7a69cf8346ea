/**
 * Determines which JSON Schemas may take exponential time to validate against, so that only those need a time limit.
 */
import { isObject } from '../../../domain/util/json';
import type { JsonObject } from '../../../domain/types/VendorTypes';

/**
 * `none`: linear in the value. `size`: possibly quadratic, so large values have a time limit. `always`: possibly
 * exponential.
 */
export type SchemaRisk = 'none' | 'size' | 'always';

const COMBINATORS = new Set(['allOf', 'anyOf', 'oneOf', 'not', 'if', 'dependentSchemas', 'dependencies']);
const REFERENCES = new Set(['$ref', '$dynamicRef', '$recursiveRef']);

/** @param schema plain JSON whose depth the caller has limited */
export function complexityOf(schema: JsonObject): SchemaRisk {
  const seen = { combinator: false, reference: false, quadratic: false, pattern: false };
  walk(schema, (key, value) => {
    if (COMBINATORS.has(key)) seen.combinator = true;
    else if (REFERENCES.has(key)) seen.reference = true;
    else if (key === 'uniqueItems') seen.quadratic = true;
    else if (key === 'pattern' && typeof value === 'string') note(value);
    else if (key === 'patternProperties' && isObject(value)) Object.keys(value).forEach(note);
  });
  // A reference that branches at one place doubles the work at every level of the value.
  if (seen.pattern || (seen.combinator && seen.reference)) return 'always';
  return seen.quadratic ? 'size' : 'none';

  function note(pattern: string): void {
    if (isSimplePattern(pattern)) seen.quadratic = true;
    else seen.pattern = true;
  }
}

/**
 * At most one unbounded repetition, of a single character and not of a group; one group; few options: quadratic at
 * worst. Returns false in doubt, which costs only the time limit.
 */
export function isSimplePattern(pattern: string): boolean {
  const plain = pattern
    .replace(/\\[^1-9k]/g, 'x')
    .replace(/\[[^\]]*\]/g, 'x')
    .replaceAll('(?:', '(');
  if (/\\|\(\?|\)[*+{]/.test(plain)) return false;
  const count = (what: RegExp): number => plain.match(what)?.length ?? 0;
  return count(/[*+]|\{\d+,\d*\}|\{\d{2,}\}/g) <= 1 && count(/\(/g) <= 1 && count(/\?/g) <= 4;
}

/** The size of a value: its nodes and characters, counted up to `limit`. */
export function weigh(value: unknown, limit: number): number {
  let weight = 0;
  const open: unknown[] = [value];
  while (open.length > 0 && weight < limit) {
    const next = open.pop();
    weight += 1;
    if (typeof next === 'string') weight += next.length;
    else if (Array.isArray(next)) {
      // Pushing at most `limit` elements bounds the count itself.
      weight += Math.max(0, next.length - limit);
      for (const element of next.slice(0, limit)) open.push(element);
    } else if (isObject(next)) {
      for (const key of Object.keys(next)) {
        weight += key.length;
        open.push(next[key]);
      }
    }
  }
  return weight;
}

function walk(node: unknown, visit: (key: string, value: unknown) => void): void {
  if (Array.isArray(node)) node.forEach((element) => walk(element, visit));
  else if (isObject(node)) {
    for (const [key, value] of Object.entries(node)) {
      visit(key, value);
      walk(value, visit);
    }
  }
}
