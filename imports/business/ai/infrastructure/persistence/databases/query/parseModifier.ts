/** Modifiers as the port has them and no further. */
import type { Modifier } from '../../../../domain/interfaces/DocumentCollection';
import { copyValue } from './copyDocument';
import { isPlainObject, splitPath } from './fieldPaths';
import { refused } from '../../documents/refused';
import { asScalar } from './scalars';
import type { Scalar } from './scalars';

type Fields<Value> = Readonly<Record<string, Value>>;
/** What `$pull` takes out: elements equal to a scalar, or objects whose fields are equal to scalars. */
export type Pulled = Scalar | Fields<Scalar>;
export interface CheckedModifier {
  readonly $set?: Fields<unknown>;
  readonly $unset?: Fields<true>;
  readonly $inc?: Fields<number>;
  readonly $push?: Fields<unknown>;
  readonly $addToSet?: Fields<Scalar>;
  readonly $pull?: Fields<Pulled>;
}

const READERS = {
  $set: stored,
  $unset: marker,
  $inc: amount,
  $push: stored,
  $addToSet: asScalar,
  $pull: pulled,
} as const satisfies Record<keyof Modifier, (value: unknown, path: string) => unknown>;

/**
 * A checked copy. `_id` can't be changed, no path may be inside another, and a value whose keys hold `$` is
 * refused, so `$each` and its like have no way in.
 * @throws LLMInvalidRequestError
 */
export function readModifier(modifier: Modifier): CheckedModifier {
  if (!isPlainObject(modifier)) throw refused('modifier', 'is not a plain object');
  const checked: Record<string, Fields<unknown>> = {};
  const paths: string[] = [];
  for (const [operator, fields] of Object.entries(modifier)) {
    if (!isOperator(operator))
      throw refused('modifier', `has an operator that stores don't share: ${operator.slice(0, 40)}`);
    if (!isPlainObject(fields)) throw refused(operator, 'takes an object of fields');
    const entries = Object.entries(fields).map(([path, value]) => {
      if (splitPath(path, operator)[0] === '_id') throw refused(path, "can't be changed");
      paths.push(path);
      return [path, READERS[operator](value, path)];
    });
    if (entries.length > 0) checked[operator] = Object.fromEntries(entries) as Fields<unknown>;
  }
  if (paths.length === 0) throw refused('modifier', 'changes nothing');
  refuseOverlap(paths);
  return checked;
}

function isOperator(word: string): word is keyof typeof READERS {
  return Object.hasOwn(READERS, word);
}

function stored(value: unknown, path: string): unknown {
  if (value === undefined) throw refused(path, 'is undefined');
  return copyValue(value, path);
}

function marker(value: unknown, path: string): true {
  if (value !== true) throw refused(path, 'takes true for $unset');
  return true;
}

function amount(value: unknown, path: string): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw refused(path, 'takes a finite number for $inc');
  return value;
}

function pulled(value: unknown, path: string): Pulled {
  if (!isPlainObject(value)) return asScalar(value, path);
  const fields = Object.entries(value).map(([name, field]): [string, Scalar] => {
    splitPath(name, path);
    return [name, asScalar(field, `${path}.${name}`)];
  });
  if (fields.length === 0) throw refused(path, 'takes at least one field for $pull');
  return Object.fromEntries(fields);
}

function refuseOverlap(paths: readonly string[]): void {
  const seen = new Set(paths);
  if (seen.size < paths.length) throw refused('modifier', 'changes one path twice');
  for (const path of paths) {
    for (let dot = path.indexOf('.'); dot !== -1; dot = path.indexOf('.', dot + 1)) {
      if (seen.has(path.slice(0, dot))) throw refused(path, `lies inside ${path.slice(0, dot)}, which is changed too`);
    }
  }
}
