/**
 * A naive reference collection for documents whose fields are numbers, strings, booleans, dates, null, arrays of
 * those, and one nested object. It shares no code with the stores, and predicts whether a change fails.
 */
import type {
  AggregateRow,
  Aggregation,
  FindOptions,
  Modifier,
  Scalar,
  Selector,
} from '../../imports/database/DocumentCollection';

export type ModelRow = { readonly _id: string } & Readonly<Record<string, unknown>>;
export type Outcome = 'done' | 'conflict' | 'invalid-request';
type Fields = Record<string, unknown>;

export class ModelCollection {
  private rows: ModelRow[];
  private readonly unique: readonly { readonly fields: readonly string[]; readonly isSparse: boolean }[];

  /** @param rows without conflicts */
  constructor(
    unique: readonly { readonly fields: readonly string[]; readonly isSparse: boolean }[],
    rows: readonly ModelRow[] = [],
  ) {
    this.unique = unique;
    this.rows = structuredClone([...rows]);
  }

  insert(row: ModelRow): Outcome {
    if (this.rows.some((other) => other._id === row._id) || this.clashes(row, this.rows)) return 'conflict';
    this.rows.push(structuredClone(row));
    return 'done';
  }

  find(selector: Selector, { sort, limit, fields }: FindOptions = {}): readonly ModelRow[] {
    const found = this.rows.filter((row) => isMatch(row, selector));
    const [by] = Object.entries(sort ?? {});
    if (by !== undefined)
      found.sort((left, right) => by[1] * order(at(left, by[0]), at(right, by[0])) || (left._id < right._id ? -1 : 1));
    return structuredClone(
      found.slice(0, limit).map((row) => (fields === undefined ? row : only(row, Object.keys(fields)))),
    );
  }

  count(selector: Selector): number {
    return this.rows.filter((row) => isMatch(row, selector)).length;
  }

  aggregate(
    selector: Selector,
    { by = {}, unwind, sum = {}, min = {}, max = {} }: Aggregation,
  ): readonly AggregateRow[] {
    const members = new Map<string, { readonly key: AggregateRow['key']; readonly rows: Fields[] }>();
    for (const row of this.rows.filter((one) => isMatch(one, selector)).flatMap((one) => unwound(one, unwind))) {
      const key = mapped(by, (path) => keyAt(row, path));
      const name = JSON.stringify(Object.values(key).map((part) => [kind(part), part]));
      const group = members.get(name) ?? { key, rows: [] };
      group.rows.push(row);
      members.set(name, group);
    }
    const rows = [...members.values()].map(({ key, rows: group }) => ({
      key,
      count: group.length,
      sum: mapped(sum, (path) => {
        const numbers = group.map((row) => at(row, path)).filter((value) => typeof value === 'number');
        return { total: numbers.reduce((total, value) => total + value, 0), count: numbers.length };
      }),
      min: mapped(min, (path) => scalars(group, path)[0] ?? null),
      max: mapped(max, (path) => scalars(group, path).at(-1) ?? null),
    }));
    return rows.sort(
      (left, right) =>
        right.count - left.count ||
        (Object.keys(by)
          .map((name) => order(left.key[name], right.key[name]))
          .find((result) => result !== 0) ??
          0),
    );
  }

  /**
   * Returns undefined if several documents match and one of them can't be changed, or only after another: no store
   * guarantees the order of changes.
   */
  update(selector: Selector, modifier: Modifier): { readonly outcome: Outcome; readonly matched: number } | undefined {
    const found = this.rows.filter((row) => isMatch(row, selector));
    const paths = Object.values(modifier).flatMap((changes) => Object.keys(changes as Fields));
    if (found.length > 1 && this.unique.some(({ fields }) => fields.some((field) => paths.includes(field))))
      return undefined;
    let rows = this.rows;
    for (const row of found) {
      const next = changed(row, modifier);
      const others = rows.filter((other) => other._id !== row._id);
      const outcome = next === undefined ? 'invalid-request' : this.clashes(next, others) ? 'conflict' : 'done';
      if (next === undefined || outcome !== 'done') return found.length === 1 ? { outcome, matched: 0 } : undefined;
      rows = [...others, next];
    }
    this.rows = rows;
    return { outcome: 'done', matched: found.length };
  }

  remove(selector: Selector): number {
    const before = this.rows.length;
    this.rows = this.rows.filter((row) => !isMatch(row, selector));
    return before - this.rows.length;
  }

  private clashes(row: ModelRow, others: readonly ModelRow[]): boolean {
    return this.unique.some(({ fields, isSparse }) => {
      const isLeftOut = (one: ModelRow): boolean => isSparse && fields.every((field) => !(field in one));
      return (
        !isLeftOut(row) &&
        others.some((other) => !isLeftOut(other) && fields.every((field) => equal(row[field], other[field])))
      );
    });
  }
}

function mapped<Value, Result>(
  values: Readonly<Record<string, Value>>,
  map: (value: Value) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]));
}

function unwound(row: Fields, path: string | undefined): Fields[] {
  const list = path === undefined ? undefined : row[path];
  if (path === undefined || !Array.isArray(list)) return [row];
  return (list.length === 0 ? [undefined] : list).map((element: unknown) => ({ ...row, [path]: element }));
}

function keyAt(row: Fields, by: NonNullable<Aggregation['by']>[string]): Scalar {
  const value = at(row, typeof by === 'string' ? by : by.path);
  if (typeof by === 'string') return isScalar(value) ? value : null;
  const milliseconds = value instanceof Date ? Number(value) : value;
  return typeof milliseconds === 'number' ? Math.floor(milliseconds / by.width) * by.width : null;
}

function scalars(rows: readonly Fields[], path: string): readonly Scalar[] {
  return rows
    .map((row) => at(row, path))
    .filter(isScalar)
    .sort(order);
}

function isScalar(value: unknown): value is Exclude<Scalar, null> {
  return ['number', 'string', 'boolean', 'date'].includes(kind(value)) && !Array.isArray(value);
}

function isMatch(row: Fields, selector: Selector): boolean {
  return Object.entries(selector).every(([key, condition]) => {
    if (key === '$or') return (condition as Selector[]).some((part) => isMatch(row, part));
    if (key === '$and') return (condition as Selector[]).every((part) => isMatch(row, part));
    const value = at(row, key);
    const values: unknown[] = Array.isArray(value) ? value : [value];
    const has = (wanted: unknown): boolean => values.some((one) => equal(one, wanted));
    if (typeof condition !== 'object' || condition === null || condition instanceof Date) return has(condition);
    return Object.entries(condition).every(([operator, operand]) => {
      const ordered = values.filter((one) => kind(one) === kind(operand)).map((one) => order(one, operand));
      if (operator === '$lt') return ordered.some((one) => one < 0);
      if (operator === '$lte') return ordered.some((one) => one <= 0);
      if (operator === '$gt') return ordered.some((one) => one > 0);
      if (operator === '$gte') return ordered.some((one) => one >= 0);
      if (operator === '$in') return (operand as unknown[]).some(has);
      if (operator === '$nin') return !(operand as unknown[]).some(has);
      if (operator === '$ne') return !has(operand);
      if (operator === '$prefix')
        return values.some((one) => typeof one === 'string' && one.slice(0, String(operand).length) === operand);
      return (value !== undefined) === operand;
    });
  });
}

/** Returns undefined if the modifier cannot be applied. */
function changed(row: ModelRow, modifier: Modifier): ModelRow | undefined {
  const next = structuredClone(row) as Fields;
  for (const [operator, changes] of Object.entries(modifier)) {
    for (const [path, operand] of Object.entries(changes as Fields)) {
      const [outer = '', inner] = path.split('.');
      if (inner !== undefined && next[outer] === undefined && operator !== '$unset' && operator !== '$pull')
        next[outer] = {};
      const holder = inner === undefined ? next : next[outer];
      if (!isObject(holder)) {
        if (operator === '$unset' || operator === '$pull') continue;
        return undefined;
      }
      const name = inner ?? outer;
      const old = holder[name];
      if (operator === '$set') holder[name] = structuredClone(operand);
      else if (operator === '$unset') Reflect.deleteProperty(holder, name);
      else if (operator === '$inc') {
        if (old !== undefined && typeof old !== 'number') return undefined;
        holder[name] = (old ?? 0) + (operand as number);
      } else {
        if (old !== undefined && !Array.isArray(old)) return undefined;
        const list: unknown[] = old ?? [];
        if (operator === '$pull' && old === undefined) continue;
        if (operator === '$push') holder[name] = [...list, structuredClone(operand)];
        else if (operator === '$pull') holder[name] = list.filter((one) => !equal(one, operand));
        else holder[name] = list.some((one) => equal(one, operand)) ? list : [...list, operand];
      }
    }
  }
  return next as ModelRow;
}

function only(row: ModelRow, paths: readonly string[]): ModelRow {
  const result: Fields = { _id: row._id };
  for (const path of paths) {
    const [outer = '', inner] = path.split('.');
    const value = row[outer];
    if (inner === undefined && value !== undefined) result[outer] = value;
    if (inner !== undefined && isObject(value))
      result[outer] = {
        ...(result[outer] as Fields | undefined),
        ...(inner in value ? { [inner]: value[inner] } : {}),
      };
  }
  return result as ModelRow;
}

function at(row: Fields, path: string): unknown {
  const [outer = '', inner] = path.split('.');
  const value = Object.hasOwn(row, outer) ? row[outer] : undefined;
  if (inner === undefined) return value;
  return isObject(value) && Object.hasOwn(value, inner) ? value[inner] : undefined;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function equal(left: unknown, right: unknown): boolean {
  return kind(left) === kind(right) && order(left, right) === 0;
}

/** In sort order. */
const KINDS = ['nothing', 'number', 'string', 'object', 'boolean', 'date'];
function kind(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  return value instanceof Date ? 'date' : typeof value;
}

function order(left: unknown, right: unknown): number {
  const kinds = KINDS.indexOf(kind(left)) - KINDS.indexOf(kind(right));
  if (kinds !== 0 || kind(left) === 'nothing' || kind(left) === 'object') return kinds;
  const [a, b] = [left, right].map((value) => (typeof value === 'string' ? value : Number(value)));
  return a! < b! ? -1 : a! > b! ? 1 : 0;
}
