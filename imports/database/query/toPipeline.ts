/** Aggregations as pipelines of MongoDB, and the rows that these return. */
import type { AggregateRow, Scalar, TimeInterval } from '../DocumentCollection';
import type { CheckedAggregation } from './parseAggregation';
import type { CheckedSelector } from './parseSelector';
import { toMongoFilter } from './toMongoFilter';

type Stage = Record<string, unknown>;

export function toPipeline(selector: CheckedSelector, aggregation: CheckedAggregation): Stage[] {
  const { by, unwind, sum, min, max, limit } = aggregation;
  return [
    { $match: toMongoFilter(selector) },
    ...(unwind === undefined ? [] : [{ $unwind: { path: `$${unwind}`, preserveNullAndEmptyArrays: true } }]),
    {
      $group: {
        _id: mapValues(by, (key) => (typeof key === 'string' ? scalarAt(key) : intervalAt(key))),
        count: { $sum: 1 },
        ...mapFields('sum', sum, (path) => ({ $sum: { $cond: [{ $isNumber: `$${path}` }, `$${path}`, 0] } })),
        ...mapFields('numbers', sum, (path) => ({ $sum: { $cond: [{ $isNumber: `$${path}` }, 1, 0] } })),
        ...mapFields('min', min, (path) => ({ $min: scalarAt(path) })),
        ...mapFields('max', max, (path) => ({ $max: scalarAt(path) })),
      },
    },
    { $sort: { count: -1, ...Object.fromEntries(Object.keys(by).map((name) => [`_id.${name}`, 1])) } },
    ...(limit === undefined ? [] : [{ $limit: limit }]),
  ];
}

/** @param row as the pipeline returns it */
export function fromPipelineRow(row: Readonly<Record<string, unknown>>, aggregation: CheckedAggregation): AggregateRow {
  const number = (name: string): number => Number(row[name]);
  // The pipeline lets only scalars through.
  const scalar = (name: string): Scalar => (row[name] ?? null) as Scalar;
  return {
    key: (row['_id'] ?? {}) as AggregateRow['key'],
    count: number('count'),
    sum: mapNames(aggregation.sum, (name) => ({ total: number(`sum_${name}`), count: number(`numbers_${name}`) })),
    min: mapNames(aggregation.min, (name) => scalar(`min_${name}`)),
    max: mapNames(aggregation.max, (name) => scalar(`max_${name}`)),
  };
}

/** Null for what is no scalar. Without it, a missing field and null would be two groups, and arrays would be keys. */
function scalarAt(path: string): Stage {
  const field = `$${path}`;
  return { $cond: [{ $in: [{ $type: field }, ['string', 'int', 'long', 'double', 'bool', 'date']] }, field, null] };
}

function intervalAt({ path, width, offset = 0 }: TimeInterval): Stage {
  const field = `$${path}`;
  const milliseconds = {
    $cond: [{ $eq: [{ $type: field }, 'date'] }, { $toDouble: field }, { $cond: [{ $isNumber: field }, field, null] }],
  };
  const intervals = { $floor: { $divide: [{ $add: [milliseconds, offset] }, width] } };
  return { $subtract: [{ $multiply: [intervals, width] }, offset] };
}

function mapFields(
  prefix: string,
  paths: Readonly<Record<string, string>>,
  map: (path: string) => Stage,
): Record<string, Stage> {
  return Object.fromEntries(Object.entries(paths).map(([name, path]) => [`${prefix}_${name}`, map(path)]));
}

function mapValues<Value, Result>(
  record: Readonly<Record<string, Value>>,
  map: (value: Value) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}

function mapNames<Result>(
  record: Readonly<Record<string, string>>,
  map: (name: string) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.keys(record).map((name) => [name, map(name)]));
}
