/**
 * Selectors as conditions of SQL on the columns of indexed paths. What cannot be said in SQL is left out, so that a
 * condition which is not exact is fulfilled by more documents than the selector.
 */
import type { Scalar } from '../DocumentCollection';
import { isList, isTests } from '../query/compileSelector';
import type { CheckedSelector } from '../query/parseSelector';
import { NULL_ELEMENT, toKeyValue, TYPE_BOUNDS } from './keyValues';
import type { SqlValue } from './nodeSqlite';
import type { SqliteTable } from './SqliteTable';

export interface SqlCondition {
  readonly sql: string;
  readonly values: readonly SqlValue[];
  readonly isExact: boolean;
}

type Columns = Pick<SqliteTable, 'columnOf' | 'hasArrays' | 'elements'>;

const ALL: SqlCondition = { sql: '1', values: [], isExact: true };
const NONE: SqlCondition = { sql: '0', values: [], isExact: true };
const UNKNOWN: SqlCondition = { sql: '1', values: [], isExact: false };
/** SQLite's limit for the values of a statement is 32,766. */
const MAX_VALUES = 8_192;
/** SQLite's limit for the depth of an expression is 1,000. */
const MAX_PARTS = 500;

export function toSqlCondition(selector: CheckedSelector, columns: Columns): SqlCondition {
  const condition = allOf(Object.entries(selector).map(([path, part]) => fieldCondition(path, part, columns)));
  return condition.values.length > 3 * MAX_VALUES ? UNKNOWN : condition;
}

function fieldCondition(path: string, condition: CheckedSelector[string], columns: Columns): SqlCondition {
  if (isList(condition)) {
    if (condition.length > MAX_PARTS) return UNKNOWN;
    const parts = condition.map((part) => toSqlCondition(part, columns));
    return path === '$or' ? anyOf(parts) : allOf(parts);
  }
  const column = columns.columnOf(path);
  if (column === undefined) {
    if (!isTests(condition) || condition.$exists === undefined) return UNKNOWN;
    const others = Object.keys(condition).length > 1;
    return allOf([exists(path, column, condition.$exists), ...(others ? [UNKNOWN] : [])]);
  }
  const tested: Tested = { column, path, ...(columns.hasArrays(path) ? { elements: columns.elements } : {}) };
  if (!isTests(condition)) return has(tested, isEqual(condition));
  const { $lt, $lte, $gt, $gte, $in, $nin, $ne, $prefix, $exists } = condition;
  return allOf([
    ...($lt === undefined ? [] : [has(tested, isOrdered('<', $lt))]),
    ...($lte === undefined ? [] : [has(tested, isOrdered('<=', $lte))]),
    ...($gt === undefined ? [] : [has(tested, isOrdered('>', $gt))]),
    ...($gte === undefined ? [] : [has(tested, isOrdered('>=', $gte))]),
    ...($in === undefined ? [] : [has(tested, isOneOf($in))]),
    ...($nin === undefined ? [] : [not(has(tested, isOneOf($nin)))]),
    ...($ne === undefined ? [] : [not(has(tested, isEqual($ne)))]),
    ...($prefix === undefined ? [] : [has(tested, hasPrefix($prefix))]),
    ...($exists === undefined ? [] : [exists(path, column, $exists)]),
  ]);
}

interface Tested {
  readonly column: string;
  readonly path: string;
  /** The table of elements, if some documents have an array there. */
  readonly elements?: string;
}

/** A condition on a value in a column, where NULL is null, or among elements. */
type ValueTest = (column: string, isNull: string) => SqlCondition;

function has({ column, path, elements }: Tested, test: ValueTest): SqlCondition {
  const own = test(column, `${column} IS NULL`);
  if (elements === undefined) return own;
  const { sql, values, isExact } = test('value', `value = x'${Buffer.from(NULL_ELEMENT).toString('hex')}'`);
  const inArray = `rowid IN (SELECT owner FROM ${elements} WHERE path = ? AND ${sql})`;
  return anyOf([own, { sql: inArray, values: [path, ...values], isExact }]);
}

function isEqual(value: Scalar): ValueTest {
  return (column, isNull) =>
    value === null
      ? { sql: isNull, values: [], isExact: true }
      : { sql: `${column} = ?`, values: [toKeyValue(value)], isExact: true };
}

function isOneOf(list: readonly Scalar[]): ValueTest {
  const keys = list.filter((value) => value !== null).map(toKeyValue);
  if (keys.length > MAX_VALUES) return () => UNKNOWN;
  return (column, isNull) =>
    anyOf([
      ...(list.includes(null) ? [{ sql: isNull, values: [], isExact: true }] : []),
      ...(keys.length === 0 ? [] : [isListed(column, keys)]),
    ]);
}

/** Lists of similar lengths are one statement: the last value is repeated. */
function isListed(column: string, keys: readonly SqlValue[]): SqlCondition {
  const length = 2 ** Math.ceil(Math.log2(keys.length));
  const values = [...keys, ...Array.from({ length: length - keys.length }, () => keys.at(-1) ?? null)];
  return { sql: `${column} IN (${values.map(() => '?').join(', ')})`, values, isExact: true };
}

/** Values of different types never match a comparison. */
function isOrdered(operator: '<' | '<=' | '>' | '>=', bound: Scalar): ValueTest {
  const type = bound instanceof Date ? 'date' : typeof bound === 'number' ? 'number' : 'string';
  const [least, next] = TYPE_BOUNDS[type];
  const key = toKeyValue(bound);
  return (column) =>
    operator === '<' || operator === '<='
      ? { sql: `${column} >= ? AND ${column} ${operator} ?`, values: [least, key], isExact: true }
      : { sql: `${column} ${operator} ? AND ${column} < ?`, values: [key, next], isExact: true };
}

function hasPrefix(prefix: string): ValueTest {
  const [, next] = TYPE_BOUNDS.string;
  return (column) => ({
    sql: `${column} >= ? AND ${column} < ?`,
    values: [prefix, textAfter(prefix) ?? next],
    isExact: true,
  });
}

/** The least text that is greater than all with this prefix; undefined if there is none. */
function textAfter(prefix: string): string | undefined {
  const points = Array.from(prefix, (character) => character.codePointAt(0) ?? 0);
  while (points.at(-1) === LAST_POINT) points.pop();
  const last = points.pop();
  if (last === undefined) return undefined;
  return String.fromCodePoint(...points, last === BEFORE_SURROGATES ? AFTER_SURROGATES : last + 1);
}

const LAST_POINT = 0x10ffff;
const [BEFORE_SURROGATES, AFTER_SURROGATES] = [0xd7ff, 0xe000];

/** A column says of a field that is null the same as of one that is missing, so that the document is asked. */
function exists(path: string, column: string | undefined, isExpected: boolean): SqlCondition {
  if (path === '_id') return isExpected ? ALL : NONE;
  // On a longer path, there may be arrays.
  if (!SIMPLE_NAME.test(path)) return UNKNOWN;
  const inDocument = `json_type(document, '$.${path}') IS ${isExpected ? 'NOT ' : ''}NULL`;
  const isIndexed = !isExpected && column !== undefined;
  return { sql: isIndexed ? `${column} IS NULL AND ${inDocument}` : inDocument, values: [], isExact: true };
}

const SIMPLE_NAME = /^[A-Za-z]\w*$/;

/** Without the negation, an index finds what is not null. */
function not({ sql, values, isExact }: SqlCondition): SqlCondition {
  if (!isExact) return UNKNOWN;
  if (sql.endsWith(' IS NULL') && values.length === 0)
    return { sql: sql.replace(/NULL$/, 'NOT NULL'), values, isExact };
  return { sql: `NOT ifnull(${sql}, 0)`, values, isExact };
}

function allOf(parts: readonly SqlCondition[]): SqlCondition {
  const needed = parts.filter(({ sql }) => sql !== '1');
  return {
    sql: needed.length === 0 ? '1' : needed.map(({ sql }) => sql).join(' AND '),
    values: needed.flatMap(({ values }) => values),
    isExact: parts.every(({ isExact }) => isExact),
  };
}

function anyOf(parts: readonly SqlCondition[]): SqlCondition {
  const isExact = parts.every((part) => part.isExact);
  if (parts.some(({ sql }) => sql === '1')) return { sql: '1', values: [], isExact };
  const possible = parts.filter(({ sql }) => sql !== '0');
  if (possible.length === 0) return { ...NONE, isExact };
  const sql = possible.map((part) => (possible.length === 1 ? part.sql : `(${part.sql})`)).join(' OR ');
  return {
    sql: possible.length === 1 ? sql : `(${sql})`,
    values: possible.flatMap(({ values }) => values),
    isExact,
  };
}
