/** Validates modifiers against what the `DocumentCollection` port supports. */
import type { Modifier, Scalar } from '../DocumentCollection';
import { copyValue } from './copyDocument';
import { invalidInput, isPlainObject, splitPath } from './fieldPaths';
import { asScalar } from './scalars';

type Fields<Value> = Readonly<Record<string, Value>>;
/** What `$pull` removes: elements equal to a scalar, or objects whose fields equal scalars. */
export type Pulled = Scalar | Fields<Scalar>;
export interface CheckedModifier {
  readonly $set?: Fields<unknown>;
  readonly $unset?: Fields<true>;
  readonly $inc?: Fields<number>;
  readonly $push?: Fields<unknown>;
  readonly $addToSet?: Fields<Scalar>;
  readonly $pull?: Fields<Pulled>;
}

const PARSERS = {
  $set: parseStoredValue,
  $unset: parseUnsetMarker,
  $inc: parseIncrement,
  $push: parseStoredValue,
  $addToSet: asScalar,
  $pull: parsePulled,
} as const satisfies Record<keyof Modifier, (value: unknown, path: string) => unknown>;

/**
 * Returns a validated copy. `_id` cannot be changed, no path may lie inside another, and keys inside values must not
 * contain `$`, which rules out `$each` and the like.
 * @throws LLMInvalidRequestError
 */
export function parseModifier(modifier: Modifier): CheckedModifier {
  if (!isPlainObject(modifier)) throw invalidInput('modifier', 'must be a plain object');
  const checked: Record<string, Fields<unknown>> = {};
  const paths: string[] = [];
  for (const [operator, fields] of Object.entries(modifier)) {
    if (!isOperator(operator)) throw invalidInput('modifier', `has an unsupported operator: ${operator.slice(0, 40)}`);
    if (!isPlainObject(fields)) throw invalidInput(operator, 'must be an object of fields');
    const entries = Object.entries(fields).map(([path, value]) => {
      if (splitPath(path, operator)[0] === '_id') throw invalidInput(path, 'cannot be changed');
      paths.push(path);
      return [path, PARSERS[operator](value, path)];
    });
    if (entries.length > 0) checked[operator] = Object.fromEntries(entries) as Fields<unknown>;
  }
  if (paths.length === 0) throw invalidInput('modifier', 'must change at least one field');
  rejectOverlappingPaths(paths);
  return checked;
}

function isOperator(name: string): name is keyof typeof PARSERS {
  return Object.hasOwn(PARSERS, name);
}

function parseStoredValue(value: unknown, path: string): unknown {
  if (value === undefined) throw invalidInput(path, 'must not be undefined');
  return copyValue(value, path);
}

function parseUnsetMarker(value: unknown, path: string): true {
  if (value !== true) throw invalidInput(path, 'must be true for $unset');
  return true;
}

function parseIncrement(value: unknown, path: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value))
    throw invalidInput(path, 'must be a finite number for $inc');
  return value;
}

function parsePulled(value: unknown, path: string): Pulled {
  if (!isPlainObject(value)) return asScalar(value, path);
  const fields = Object.entries(value).map(([name, field]): [string, Scalar] => {
    splitPath(name, path);
    return [name, asScalar(field, `${path}.${name}`)];
  });
  if (fields.length === 0) throw invalidInput(path, 'must have at least one field for $pull');
  return Object.fromEntries(fields);
}

function rejectOverlappingPaths(paths: readonly string[]): void {
  const seen = new Set(paths);
  if (seen.size < paths.length) throw invalidInput('modifier', 'must not change a path twice');
  for (const path of paths) {
    for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
      if (seen.has(path.slice(0, dot)))
        throw invalidInput(path, `lies inside ${path.slice(0, dot)}, which the modifier also changes`);
    }
  }
}
