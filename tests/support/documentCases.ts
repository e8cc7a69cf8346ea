/** The tables of the contract for stores of documents: what is kept, found and changed, and what is refused. */
import type {
  Modifier,
  Selector,
  StoredDocument,
} from '../../imports/business/ai/domain/interfaces/DocumentCollection';

export interface Row extends StoredDocument {
  readonly [field: string]: unknown;
}

/** Fields that a document can't have. */
export const UNSTORABLE = {
  'a key with $': { $set: 1 },
  'a key with $ inside': { nested: { a$b: 1 } },
  'a key with a dot': { 'a.b': 1 },
  'an empty key': { '': 1 },
  'a key with a zero byte': { 'a\0': 1 },
  '__proto__ as a key': { nested: JSON.parse('{"__proto__":{"isAdmin":true}}') as object },
  'a function': { run: () => 1 },
  'a class instance': { map: new Map() },
  'a regular expression': { pattern: /x/ },
  bytes: { bytes: Buffer.from('x') },
  'a bigint': { n: 1n },
  'a symbol': { s: Symbol('s') },
  NaN: { n: NaN },
  Infinity: { n: -Infinity },
  'an invalid date': { at: new Date(NaN) },
  'undefined in an array': { list: [undefined] },
  'a circle': circle(),
} as const satisfies Record<string, object>;

/** Documents for SELECTORS. */
export const FOUND: readonly Row[] = [
  {
    _id: 'a',
    n: 1,
    s: 'x',
    at: new Date(1000),
    nested: { n: 1 },
    list: [1, 5],
    flag: true,
    items: [{ k: 1 }, { k: 2 }],
  },
  { _id: 'b', n: 2, s: 'y', at: new Date(2000), nested: { n: 2 }, list: [], none: null, items: [{ j: 1 }] },
  { _id: 'c', n: 3, s: 'z', at: new Date(3000), nested: {}, list: ['1'], flag: false },
  { _id: 'd', s: '', n: '2' },
];

/** What a selector means, on the documents of FOUND: the ids, sorted. */
export const SELECTORS: readonly (readonly [what: string, selector: Selector, ids: string])[] = [
  ['everything', {}, 'abcd'],
  ['equality of _id', { _id: 'b' }, 'b'],
  ['equality of numbers and not of their text', { n: 2 }, 'b'],
  ['equality of text', { n: '2' }, 'd'],
  ['equality of dates by their time', { at: new Date(2000) }, 'b'],
  ['equality of booleans', { flag: false }, 'c'],
  ['null, which a missing field also is', { none: null }, 'abcd'],
  ['null and what is there', { flag: null }, 'bd'],
  ['an empty text', { s: '' }, 'd'],
  ['a nested field', { 'nested.n': 2 }, 'b'],
  ['a nested field that is missing', { 'nested.n': null }, 'cd'],
  ['any element of an array', { list: 5 }, 'a'],
  ['a field of any object in an array', { 'items.k': 2 }, 'a'],
  ['a field that no object in an array has', { 'items.k': { $ne: 1 } }, 'bcd'],
  ['several fields at once', { s: 'x', n: 1 }, 'a'],
  ['$lt', { n: { $lt: 3 } }, 'ab'],
  ['$lte', { n: { $lte: 2 } }, 'ab'],
  ['$gt', { n: { $gt: 2 } }, 'c'],
  ['$gte', { n: { $gte: 2 } }, 'bc'],
  ['a range', { n: { $gt: 1, $lt: 3 } }, 'b'],
  ['a range of dates', { at: { $gte: new Date(2000), $lt: new Date(3000) } }, 'b'],
  ['a range of text', { s: { $gt: 'x' } }, 'bc'],
  ['a range that two elements fulfil together', { list: { $gt: 4, $lt: 2 } }, 'a'],
  ['$in', { n: { $in: [1, '2'] } }, 'ad'],
  ['$in with null', { flag: { $in: [null, true] } }, 'abd'],
  ['$in of nothing', { n: { $in: [] } }, ''],
  ['$in of _id', { _id: { $in: ['a', 'c', 'nobody'] } }, 'ac'],
  ['$nin', { n: { $nin: [1, 2] } }, 'cd'],
  ['$nin of nothing', { n: { $nin: [] } }, 'abcd'],
  ['$nin with an array', { list: { $nin: [1] } }, 'bcd'],
  ['$ne', { n: { $ne: 1 } }, 'bcd'],
  ['$ne with an array', { list: { $ne: 5 } }, 'bcd'],
  ['$ne null', { flag: { $ne: null } }, 'ac'],
  ['$exists', { flag: { $exists: true } }, 'ac'],
  ['$exists with null and with an empty array', { none: { $exists: true }, list: { $exists: true } }, 'b'],
  ['$exists: false', { list: { $exists: false } }, 'd'],
  ['$or', { $or: [{ n: 1 }, { s: 'z' }] }, 'ac'],
  ['$and', { $and: [{ n: { $gt: 1 } }, { n: { $lt: 3 } }] }, 'b'],
  ['$or beside a field, and nested', { s: { $ne: 'x' }, $or: [{ n: 2 }, { $and: [{ n: 3 }, { flag: false }] }] }, 'bc'],
  ['a word that is a property of every object', { constructor: null, toString: { $exists: false } }, 'abcd'],
];

export const REFUSED_SELECTORS: Readonly<Record<string, unknown>> = {
  'undefined, which would match everything': { _id: undefined },
  'undefined inside $or': { $or: [{ a: undefined }] },
  'undefined in $in': { a: { $in: [undefined] } },
  'an object as a value': { a: { b: 1 } },
  'an empty object as a value': { a: {} },
  'an array as a value': { a: [1] },
  'an operator that not all stores know': { a: { $regex: '.*' } },
  'a regular expression': { a: /x/ },
  $where: { $where: 'this.a' },
  $expr: { $expr: { $gt: ['$a', 1] } },
  $not: { a: { $not: { $gt: 1 } } },
  $elemMatch: { list: { $elemMatch: { $gt: 1 } } },
  $text: { $text: { $search: 'x' } },
  'operators and fields together': { a: { $gt: 1, b: 2 } },
  'an order of booleans': { a: { $gt: true } },
  'an order of null': { a: { $lte: null } },
  'an operator as an element of $in': { a: { $in: [{ $gt: '' }] } },
  'an operator as the value of $ne': { a: { $ne: { $gt: '' } } },
  '$exists of a text': { a: { $exists: 'yes' } },
  'an empty $or': { $or: [] },
  '$or of no list': { $or: { a: 1 } },
  'a path with $': { 'a.$': 1 },
  'a path with an empty part': { 'a..b': 1 },
  'a path with a position': { 'list.0': 1 },
  'a path to a prototype': { 'a.__proto__.b': 1 },
  NaN: { a: NaN },
  'a function': { a: () => 1 },
  'an array for a selector': [],
  'null for a selector': null,
  'a text for a selector': 'a',
};

export const REFUSED_OPTIONS: Readonly<Record<string, object>> = {
  'a limit of 0, which MongoDB reads as none': { limit: 0 },
  'a negative limit': { limit: -1 },
  'half a limit': { limit: 1.5 },
  'a direction other than 1 and -1': { sort: { a: 2 } },
  'a sort by an operator': { sort: { a: { $meta: 'textScore' } } },
  'a path with $': { sort: { $natural: 1 } },
  'fields to leave out': { fields: { a: 0 } },
  'a computed field': { fields: { a: '$b' } },
  'a field and what it is inside of': { fields: { a: 1, 'a.b': 1 } },
};

/** What a modifier makes of a document. */
export const MODIFIERS: readonly (readonly [what: string, document: Row, modifier: Modifier, result: Row])[] = [
  [
    '$set',
    { _id: 'a', n: 1 },
    { $set: { n: 'x', at: new Date(5), deep: { list: [1] } } },
    { _id: 'a', n: 'x', at: new Date(5), deep: { list: [1] } },
  ],
  [
    '$set of a nested field',
    { _id: 'a', nested: { keep: 1 } },
    { $set: { 'nested.n': 2, 'made.up.here': 3 } },
    { _id: 'a', nested: { keep: 1, n: 2 }, made: { up: { here: 3 } } },
  ],
  [
    '$unset',
    { _id: 'a', n: 1, nested: { x: 1, y: 2 } },
    { $unset: { n: true, 'nested.x': true, 'missing.z': true } },
    { _id: 'a', nested: { y: 2 } },
  ],
  ['$unset through a value without fields', { _id: 'a', n: 1 }, { $unset: { 'n.x': true } }, { _id: 'a', n: 1 }],
  [
    '$inc',
    { _id: 'a', n: 1.5, nested: {} },
    { $inc: { n: -2, 'nested.m': 3 } },
    { _id: 'a', n: -0.5, nested: { m: 3 } },
  ],
  [
    '$push',
    { _id: 'a', list: [1] },
    { $push: { list: { any: 'thing' }, made: [2] } },
    { _id: 'a', list: [1, { any: 'thing' }], made: [[2]] },
  ],
  [
    '$addToSet of what is there',
    { _id: 'a', list: [1, new Date(5)] },
    { $addToSet: { list: new Date(5), made: 'x' } },
    { _id: 'a', list: [1, new Date(5)], made: ['x'] },
  ],
  [
    '$addToSet of what is not there',
    { _id: 'a', list: ['1', null] },
    { $addToSet: { list: 1 } },
    { _id: 'a', list: ['1', null, 1] },
  ],
  [
    '$pull of a value',
    { _id: 'a', list: [1, 2, 1, '1', null] },
    { $pull: { list: 1, missing: 1 } },
    { _id: 'a', list: [2, '1', null] },
  ],
  [
    '$pull of null',
    { _id: 'a', list: [1, null, { a: 1 }] },
    { $pull: { list: null } },
    { _id: 'a', list: [1, { a: 1 }] },
  ],
  [
    '$pull of objects by their fields',
    { _id: 'a', list: [{ k: 1, v: 1 }, { k: 2 }, 1] },
    { $pull: { list: { k: 1 } } },
    { _id: 'a', list: [{ k: 2 }, 1] },
  ],
  [
    'all of them at once',
    { _id: 'a', a: 1, b: 1, c: [1], d: [1], e: [1], f: 1 },
    { $set: { a: 2 }, $inc: { b: 1 }, $push: { c: 2 }, $addToSet: { d: 2 }, $pull: { e: 1 }, $unset: { f: true } },
    { _id: 'a', a: 2, b: 2, c: [1, 2], d: [1, 2], e: [] },
  ],
  ['a change to what it is already', { _id: 'a', n: 1 }, { $set: { n: 1 } }, { _id: 'a', n: 1 }],
];

/** Changes that a document's values don't allow. */
export const IMPOSSIBLE = [
  ['$inc of a text', { n: 'x' }, { $inc: { n: 1 } }],
  ['$inc of null', { n: null }, { $inc: { n: 1 } }],
  ['$push to what is no array', { n: 1 }, { $push: { n: 1 } }],
  ['$addToSet to what is no array', { n: null }, { $addToSet: { n: 1 } }],
  ['$pull from what is no array', { n: 'x' }, { $pull: { n: 1 } }],
  ['$set through a value without fields', { n: 1 }, { $set: { 'n.x': 1 } }],
  ['$set through null', { n: null }, { $set: { 'n.x': 1 } }],
  ['$set through an array', { n: [] }, { $set: { 'n.x': 1 } }],
] as const satisfies readonly (readonly [what: string, fields: object, modifier: Modifier])[];

export const REFUSED_MODIFIERS: Readonly<Record<string, unknown>> = {
  'a replacement': { n: 2 },
  'nothing to do': {},
  'an operator with nothing to do': { $set: {} },
  'a change of _id': { $set: { _id: 'b' } },
  'the removal of _id': { $unset: { _id: true } },
  'an operator that not all stores know': { $rename: { n: 'm' } },
  $setOnInsert: { $setOnInsert: { n: 1 } },
  $currentDate: { $currentDate: { n: true } },
  '$push with $each': { $push: { list: { $each: [1] } } },
  '$pull with an operator': { $pull: { list: { $gt: 0 } } },
  '$pull with an operator inside': { $pull: { list: { k: { $gt: 0 } } } },
  '$addToSet of an object': { $addToSet: { list: { a: 1 } } },
  '$set of undefined': { $set: { n: undefined } },
  '$set of an operator': { $set: { n: { $gt: 1 } } },
  '$set of a position': { $set: { 'list.0': 1 } },
  'the positional operator': { $set: { 'list.$': 1 } },
  'a path to a prototype': { $set: { '__proto__.x': 1 } },
  '$inc of a text': { $inc: { n: '1' } },
  '$inc of NaN': { $inc: { n: NaN } },
  '$unset of anything but true': { $unset: { n: 1 } },
  'one path in two operators': { $set: { n: 1 }, $inc: { n: 1 } },
  'a path inside another': { $set: { 'o.a': 1 }, $unset: { o: true } },
  'a list of stages': [{ $set: { n: 1 } }],
};

function circle(): object {
  const fields: Record<string, unknown> = {};
  fields['self'] = fields;
  return fields;
}
