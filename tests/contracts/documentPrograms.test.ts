/** Random programs of operations give the same results on every document store and on a reference model. */
import { expect } from 'chai';
import fc from 'fast-check';
import type {
  AggregateRow,
  Aggregation,
  DocumentCollection,
  FindOptions,
  Modifier,
  Selector,
} from '../../imports/database/DocumentCollection';
import { isLLMError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { ModelCollection } from '../support/ModelCollection';
import type { ModelRow, Outcome } from '../support/ModelCollection';
import { IS_SOAK, itInSoak } from '../support/soak';

const RUNS = IS_SOAK ? 5_000 : 25;

/** Unique keys of the collection that the programs run on. */
const UNIQUE = [
  { fields: ['key'], isSparse: true },
  { fields: ['left', 'right'], isSparse: false },
];

type Step =
  | { readonly type: 'insert'; readonly row: ModelRow }
  | { readonly type: 'find'; readonly selector: Selector; readonly options: FindOptions }
  | { readonly type: 'count'; readonly selector: Selector }
  | { readonly type: 'aggregate'; readonly selector: Selector; readonly aggregation: Aggregation }
  | { readonly type: 'update'; readonly selector: Selector; readonly modifier: Modifier; readonly multi: boolean }
  | { readonly type: 'remove'; readonly selector: Selector };

/** The embedded database stores these apart from their documents. */
const LONG = ['a'.repeat(9_000), `${'a'.repeat(9_000)}é`, '🎈\u2028'.repeat(5_000)];
/** And these mean something in its rows. */
const ODD = [`\0large:${'0'.repeat(64)}:5`, '\0plain:a'];
const scalar = fc.oneof(
  {
    weight: 13,
    arbitrary: fc.constantFrom<unknown>(0, 1, 2, -1.5, '', '1', 'a', 'é', true, false, null, new Date(0), new Date(1)),
  },
  { weight: 3, arbitrary: fc.constantFrom<unknown>(...LONG, ...ODD) },
);
const bound = fc.constantFrom<unknown>(0, 1, 'a', '1', new Date(0), new Date(1), LONG[0]);
const id = fc.constantFrom('i', 'j', 'k', 'l', 'm');
const field = fc.constantFrom('a', 'n', 'list', 'inner', 'inner.x', 'inner.y', 'key', 'left', 'right');
const row = fc
  .record(
    {
      _id: id,
      a: scalar,
      n: fc.constantFrom(0, 1, 2),
      list: fc.array(scalar, { maxLength: 3 }),
      inner: fc.record({ x: scalar, y: scalar }, { requiredKeys: [] }),
      key: fc.constantFrom(null, 0, 1, 'a', LONG[0]),
      // Mostly unique, or every second document would be rejected.
      left: fc.oneof(
        { weight: 4, arbitrary: fc.nat(1000) },
        { weight: 1, arbitrary: fc.constantFrom(null, undefined, 0, 'a') },
      ),
      right: fc.constantFrom(null, 1, 'b', new Date(0)),
    },
    { requiredKeys: ['_id', 'left'] },
  )
  .map(({ left, ...fields }): ModelRow => ({ ...fields, ...(left === undefined ? {} : { left }) }));
const tests = fc.oneof(
  fc.dictionary(fc.constantFrom('$lt', '$lte', '$gt', '$gte'), bound, { minKeys: 1, maxKeys: 2 }),
  fc.dictionary(fc.constantFrom('$in', '$nin'), fc.array(scalar, { maxLength: 3 }), { minKeys: 1 }),
  fc.record({ $ne: scalar }),
  fc.record({ $exists: fc.boolean() }),
  fc.record({ $prefix: fc.constantFrom('', '1', 'é', 'A', 'aaa', LONG[0]) }),
);
const condition = fc.dictionary(field, fc.oneof(scalar, tests), { minKeys: 1, maxKeys: 2, noNullPrototype: true });
const selector: fc.Arbitrary<Selector> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  { weight: 3, arbitrary: fc.record({ _id: id }) },
  { weight: 6, arbitrary: condition },
  {
    weight: 3,
    arbitrary: fc.dictionary(
      field,
      fc.constantFrom<unknown>({ $exists: true }, { $exists: false }, { $ne: 1 }, null, 1, { $gte: 0 }),
      { minKeys: 1, maxKeys: 1, noNullPrototype: true },
    ),
  },
  { weight: 1, arbitrary: fc.record({ _id: fc.record({ $in: fc.array(id, { maxLength: 3 }) }) }) },
  { weight: 1, arbitrary: fc.record({ $or: fc.array(condition, { minLength: 1, maxLength: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ $and: fc.array(condition, { minLength: 1, maxLength: 3 }), a: scalar }) },
);
const change = fc.oneof(
  fc.tuple(fc.constant('$set'), field, scalar),
  fc.tuple(fc.constant('$set'), fc.constantFrom('list', 'inner.z'), fc.constant([1, null])),
  fc.tuple(fc.constant('$unset'), field, fc.constant(true)),
  fc.tuple(fc.constant('$inc'), fc.constantFrom('n', 'inner.x', 'a', 'key'), fc.constantFrom(1, -2, 0.5)),
  // Mostly inapplicable.
  fc.tuple(fc.constantFrom('$inc', '$push'), fc.constantFrom('a', 'n', 'a.b', 'list.b'), fc.constant(1)),
  fc.tuple(fc.constantFrom('$push', '$addToSet', '$pull'), fc.constantFrom('list', 'inner.list', 'a'), scalar),
);
/** Two changes of fields of which neither contains the other. */
const modifier: fc.Arbitrary<Modifier> = fc.array(change, { minLength: 1, maxLength: 2 }).map((changes) => {
  const [[operator, path, value] = ['$set', 'a', 1], second] = changes;
  const first = { [operator]: { [path]: value } };
  if (second === undefined || second[1].startsWith(path) || path.startsWith(second[1])) return first;
  return second[0] === operator
    ? { [operator]: { [path]: value, [second[1]]: second[2] } }
    : { ...first, [second[0]]: { [second[1]]: second[2] } };
});
const options: fc.Arbitrary<FindOptions> = fc.record(
  {
    // `$push` may turn any other field into an array, and stores order arrays and scalars differently.
    sort: fc.oneof(
      fc.record({ _id: fc.constantFrom(1, -1) }),
      fc.record({ right: fc.constantFrom(1, -1), _id: fc.constant(1) }),
    ),
    limit: fc.integer({ min: 1, max: 3 }),
    fields: fc.constantFrom({ a: 1 }, { _id: 1 }, { list: 1, 'inner.x': 1 }, { 'inner.y': 1, 'inner.x': 1 }),
  },
  { requiredKeys: ['sort'] },
);
const named = fc.dictionary(fc.constantFrom('one', 'two'), field, { maxKeys: 2, noNullPrototype: true });
const aggregation: fc.Arbitrary<Aggregation> = fc.record(
  {
    by: fc.dictionary(
      fc.constantFrom('one', 'two'),
      fc.oneof(field, fc.record({ path: fc.constantFrom('a', 'n', 'inner.x'), width: fc.constantFrom(1, 2) })),
      { maxKeys: 2, noNullPrototype: true },
    ),
    unwind: fc.constantFrom('list', 'a'),
    sum: named,
    min: named,
    max: named,
  },
  { requiredKeys: ['by'] },
);
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: row.map((fields): Step => ({ type: 'insert', row: fields })) },
  {
    weight: 4,
    arbitrary: fc
      .tuple(selector, options)
      .map(([which, how]): Step => ({ type: 'find', selector: which, options: how })),
  },
  { weight: 1, arbitrary: selector.map((which): Step => ({ type: 'count', selector: which })) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(selector, aggregation)
      .map(([which, how]): Step => ({ type: 'aggregate', selector: which, aggregation: how })),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(id, condition, modifier)
      .map(([_id, also, what]): Step => ({ type: 'update', selector: { ...also, _id }, modifier: what, multi: false })),
  },
  {
    weight: 5,
    arbitrary: fc
      .tuple(id, modifier)
      .map(([_id, what]): Step => ({ type: 'update', selector: { _id }, modifier: what, multi: false })),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(selector, modifier)
      .map(([which, what]): Step => ({ type: 'update', selector: which, modifier: what, multi: true })),
  },
  { weight: 1, arbitrary: selector.map((which): Step => ({ type: 'remove', selector: which })) },
);

describe('DocumentCollection: random programs', () => {
  const opened: TestDatabase[] = [];
  const collections: NamedCollection[] = [];

  before(async () => {
    for (const [name, open] of Object.entries(DATABASES)) {
      const database = await open();
      opened.push(database);
      const rows = database.database.collection<ModelRow>('programs');
      await ensureIndexes(rows);
      collections.push({ name, rows });
    }
  });
  after(async () => {
    for (const database of opened) await database.close();
  });

  it(`behaves the same on all databases, in ${RUNS} programs`, async () => {
    const seen = { done: 0, conflict: 0, 'invalid-request': 0, found: 0, groups: 0, matched: 0 };
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { maxLength: 5 }),
        fc.array(step, { minLength: 1, maxLength: 12 }),
        async (rowsAtFirst, steps) => {
          for (const { rows } of collections) await rows.remove({});
          const inserts = rowsAtFirst.map((first): Step => ({ type: 'insert', row: first }));
          await checkSteps(collections, [], [...inserts, ...steps], (expected) => count(seen, expected));
        },
      ),
      { numRuns: RUNS },
    );
    // Programs that always or never fail prove little. A few of them may do so by chance.
    if (IS_SOAK) for (const [what, times] of Object.entries(seen)) expect(times, what).to.be.greaterThan(RUNS / 10);
  });
});

/** The embedded database reads and changes so many in pages. */
for (const [name, open] of Object.entries(DATABASES).filter(([one]) => one.startsWith('embedded')))
  describe(`DocumentCollection: random programs over many documents: ${name}`, () => {
    const ROWS = 1_200;
    const PROGRAMS = 200;

    itInSoak(`behaves like the model, in ${PROGRAMS} programs`, async () => {
      const opened = await open();
      try {
        let collections = 0;
        await fc.assert(
          fc.asyncProperty(
            fc.infiniteStream(row),
            fc.array(step, { minLength: 10, maxLength: 30 }),
            fc.boolean(),
            async (stream, steps, isIndexedLater) => {
              collections += 1;
              const rows = opened.database.collection<ModelRow>(`many-${collections}`);
              const stored = Array.from(stream.take(ROWS), ({ key: _, ...fields }, index) => ({
                ...fields,
                _id: `d${index}`,
                left: index,
              }));
              if (!isIndexedLater) await ensureIndexes(rows);
              await rows.insertMany(stored);
              if (isIndexedLater) await ensureIndexes(rows);
              await checkSteps([{ name: 'embedded', rows }], stored, steps);
            },
          ),
          { numRuns: PROGRAMS },
        );
      } finally {
        await opened.close();
      }
    });
  });

interface NamedCollection {
  readonly name: string;
  readonly rows: DocumentCollection<ModelRow>;
}

/** Runs the same steps on a model with documents and on collections with the same ones. */
async function checkSteps(
  collections: readonly NamedCollection[],
  stored: readonly ModelRow[],
  steps: readonly Step[],
  onResult: (expected: Result) => void = () => undefined,
): Promise<void> {
  const model = new ModelCollection(UNIQUE, stored);
  for (const [number, next] of steps.entries()) {
    const expected = onModel(model, next);
    if (expected === undefined) continue;
    onResult(expected);
    const results = await Promise.all(collections.map(({ rows }) => onStore(rows, next)));
    for (const [at, result] of results.entries())
      expect(result, `step ${number} on ${collections[at]!.name}`).to.deep.equal(expected);
  }
  for (const { name, rows } of collections)
    expect(await rows.find({}, { sort: { _id: 1 } }), name).to.deep.equal(model.find({}, { sort: { _id: 1 } }));
}

async function ensureIndexes(rows: DocumentCollection<ModelRow>): Promise<void> {
  for (const { fields, isSparse } of UNIQUE)
    await rows.ensureIndex(Object.fromEntries(fields.map((one) => [one, 1])), { unique: true, sparse: isSparse });
  await rows.ensureIndex({ a: 1 });
  await rows.ensureIndex({ 'inner.x': -1 });
  await rows.ensureIndex({ list: 1 });
  await rows.ensureIndex({ right: 1, _id: 1 });
  await rows.ensureIndex({ n: 1, right: -1 });
  await rows.ensureIndex({ n: 1, a: -1, right: 1 });
}

type Result =
  | { readonly outcome: Outcome; readonly matched?: number }
  | readonly ModelRow[]
  | { readonly groups: readonly AggregateRow[] };

/** Returns undefined for a step whose result may differ between stores. */
function onModel(model: ModelCollection, next: Step): Result | undefined {
  switch (next.type) {
    case 'insert':
      return { outcome: model.insert(next.row) };
    case 'find':
      return model.find(next.selector, next.options);
    case 'count':
      return { outcome: 'done', matched: model.count(next.selector) };
    case 'aggregate':
      return { groups: model.aggregate(next.selector, next.aggregation) };
    case 'update':
      return model.update(next.selector, next.modifier);
    case 'remove':
      return { outcome: 'done', matched: model.remove(next.selector) };
  }
}

async function onStore(rows: DocumentCollection<ModelRow>, next: Step): Promise<Result> {
  try {
    switch (next.type) {
      case 'insert':
        await rows.insert(next.row);
        return { outcome: 'done' };
      case 'find':
        return await rows.find(next.selector, next.options);
      case 'count':
        return { outcome: 'done', matched: await rows.count(next.selector) };
      case 'aggregate':
        return { groups: await rows.aggregate(next.selector, next.aggregation) };
      case 'update':
        return { outcome: 'done', matched: await rows.update(next.selector, next.modifier, { multi: next.multi }) };
      case 'remove':
        return { outcome: 'done', matched: await rows.remove(next.selector) };
    }
  } catch (error) {
    if (!isLLMError(error) || (error.code !== 'conflict' && error.code !== 'invalid-request')) throw error;
    return { outcome: error.code, ...(next.type === 'insert' ? {} : { matched: 0 }) };
  }
}

function count(seen: Record<Outcome | 'found' | 'groups' | 'matched', number>, result: Result): void {
  if (isRows(result)) seen.found += result.length;
  else if ('groups' in result) seen.groups += result.groups.length;
  else {
    seen[result.outcome] += 1;
    seen.matched += result.matched ?? 0;
  }
}

function isRows(result: Result): result is readonly ModelRow[] {
  return Array.isArray(result);
}
