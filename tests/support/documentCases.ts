/** Test cases of the contract for document stores: values, selectors, options and modifiers, valid and invalid. */
import type { Modifier, Selector, StoredDocument } from '../../imports/database/DocumentCollection';

export interface Row extends StoredDocument {
  readonly [field: string]: unknown;
}

/** Fields that a document cannot contain. */
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
  'a circular reference': circularObject(),
} as const satisfies Record<string, object>;

/** Documents for SELECTORS. */
export const SELECTOR_DOCUMENTS: readonly Row[] = [
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
  {
    _id: 'c',
    n: 3,
    s: 'z',
    at: new Date(3000),
    nested: {},
    list: ['1'],
    flag: false,
    texts: [{ t: 'a.*(b|[c]{2}+?^$\\d' }, { t: '\n\0x' }],
  },
  { _id: 'd', s: '', n: '2' },
];

/** Selectors, and the sorted ids of the documents of SELECTOR_DOCUMENTS that they match. */
export const SELECTORS: readonly (readonly [what: string, selector: Selector, ids: string])[] = [
  ['everything', {}, 'abcd'],
  ['equality of _id', { _id: 'b' }, 'b'],
  ['equality of numbers, but not of numeric strings', { n: 2 }, 'b'],
  ['equality of strings', { n: '2' }, 'd'],
  ['equality of dates by timestamp', { at: new Date(2000) }, 'b'],
  ['equality of booleans', { flag: false }, 'c'],
  ['null, which matches a missing field', { none: null }, 'abcd'],
  ['null, which matches no other value', { flag: null }, 'bd'],
  ['an empty string', { s: '' }, 'd'],
  ['a nested field', { 'nested.n': 2 }, 'b'],
  ['a missing nested field', { 'nested.n': null }, 'cd'],
  ['any element of an array', { list: 5 }, 'a'],
  ['a field of any object in an array', { 'items.k': 2 }, 'a'],
  ['a field that no object in an array has', { 'items.k': { $ne: 1 } }, 'bcd'],
  ['several fields', { s: 'x', n: 1 }, 'a'],
  ['$lt', { n: { $lt: 3 } }, 'ab'],
  ['$lte', { n: { $lte: 2 } }, 'ab'],
  ['$gt', { n: { $gt: 2 } }, 'c'],
  ['$gte', { n: { $gte: 2 } }, 'bc'],
  ['a range', { n: { $gt: 1, $lt: 3 } }, 'b'],
  ['a range of dates', { at: { $gte: new Date(2000), $lt: new Date(3000) } }, 'b'],
  ['a range of strings', { s: { $gt: 'x' } }, 'bc'],
  ['a range whose bounds two elements satisfy together', { list: { $gt: 4, $lt: 2 } }, 'a'],
  ['$in', { n: { $in: [1, '2'] } }, 'ad'],
  ['$in with null', { flag: { $in: [null, true] } }, 'abd'],
  ['an empty $in', { n: { $in: [] } }, ''],
  ['$in of _id', { _id: { $in: ['a', 'c', 'nobody'] } }, 'ac'],
  ['$nin', { n: { $nin: [1, 2] } }, 'cd'],
  ['an empty $nin', { n: { $nin: [] } }, 'abcd'],
  ['$nin with an array', { list: { $nin: [1] } }, 'bcd'],
  ['$ne', { n: { $ne: 1 } }, 'bcd'],
  ['$ne with an array', { list: { $ne: 5 } }, 'bcd'],
  ['$ne null', { flag: { $ne: null } }, 'ac'],
  ['$exists', { flag: { $exists: true } }, 'ac'],
  ['$exists with null and with an empty array', { none: { $exists: true }, list: { $exists: true } }, 'b'],
  ['$exists: false', { list: { $exists: false } }, 'd'],
  ['$prefix', { s: { $prefix: 'x' } }, 'a'],
  ['$prefix of an element of an array', { list: { $prefix: '1' } }, 'c'],
  ['an empty $prefix, which matches every string and nothing else', { n: { $prefix: '' } }, 'd'],
  ['$prefix by case', { s: { $prefix: 'X' } }, ''],
  ['$prefix, but not inside a string', { 'texts.t': { $prefix: 'b' } }, ''],
  ['$prefix with characters of a pattern', { 'texts.t': { $prefix: 'a.*(b|[c]{2}+?^$\\' } }, 'c'],
  ['$prefix with a character that a pattern would match', { 'texts.t': { $prefix: 'a..' } }, ''],
  ['$prefix with line breaks and a zero byte', { 'texts.t': { $prefix: '\n\0' } }, 'c'],
  ['$prefix beside other operators', { s: { $prefix: '', $gte: 'y', $ne: 'z' } }, 'b'],
  ['$prefix inside $or', { $or: [{ s: { $prefix: 'z' } }, { $and: [{ s: { $prefix: 'y' } }] }] }, 'bc'],
  ['$or', { $or: [{ n: 1 }, { s: 'z' }] }, 'ac'],
  ['$and', { $and: [{ n: { $gt: 1 } }, { n: { $lt: 3 } }] }, 'b'],
  ['$or beside a field, and nested', { s: { $ne: 'x' }, $or: [{ n: 2 }, { $and: [{ n: 3 }, { flag: false }] }] }, 'bc'],
  ['a name that every object inherits', { constructor: null, toString: { $exists: false } }, 'abcd'],
];

export const INVALID_SELECTORS: Readonly<Record<string, unknown>> = {
  'undefined, which would match everything': { _id: undefined },
  'undefined inside $or': { $or: [{ a: undefined }] },
  'undefined in $in': { a: { $in: [undefined] } },
  'an object as a value': { a: { b: 1 } },
  'an empty object as a value': { a: {} },
  'an array as a value': { a: [1] },
  'an operator that not all stores support': { a: { $regex: '.*' } },
  'a regular expression': { a: /x/ },
  '$prefix with a pattern': { a: { $prefix: /x/ } },
  '$prefix with an operator': { a: { $prefix: { $gt: '' } } },
  $where: { $where: 'this.a' },
  $expr: { $expr: { $gt: ['$a', 1] } },
  $not: { a: { $not: { $gt: 1 } } },
  $elemMatch: { list: { $elemMatch: { $gt: 1 } } },
  $text: { $text: { $search: 'x' } },
  'operators and fields together': { a: { $gt: 1, b: 2 } },
  'a comparison of booleans': { a: { $gt: true } },
  'a comparison with null': { a: { $lte: null } },
  'an operator as an element of $in': { a: { $in: [{ $gt: '' }] } },
  'an operator as the value of $ne': { a: { $ne: { $gt: '' } } },
  '$exists with a string': { a: { $exists: 'yes' } },
  'an empty $or': { $or: [] },
  '$or with an object': { $or: { a: 1 } },
  'a path with $': { 'a.$': 1 },
  'a path with an empty part': { 'a..b': 1 },
  'a path with an array index': { 'list.0': 1 },
  'a path to a prototype': { 'a.__proto__.b': 1 },
  NaN: { a: NaN },
  'a function': { a: () => 1 },
  'an array as the selector': [],
  'null as the selector': null,
  'a string as the selector': 'a',
};

export const INVALID_OPTIONS: Readonly<Record<string, object>> = {
  'a limit of 0, which MongoDB treats as no limit': { limit: 0 },
  'a negative limit': { limit: -1 },
  'a fractional limit': { limit: 1.5 },
  'a direction other than 1 and -1': { sort: { a: 2 } },
  'a sort by an operator': { sort: { a: { $meta: 'textScore' } } },
  'a path with $': { sort: { $natural: 1 } },
  'excluded fields': { fields: { a: 0 } },
  'a computed field': { fields: { a: '$b' } },
  'a field and its parent': { fields: { a: 1, 'a.b': 1 } },
};

export const INVALID_AGGREGATIONS: Readonly<Record<string, unknown>> = {
  'a limit of 0': { limit: 0 },
  'a name with a dot': { sum: { 'a.b': 'a' } },
  'a name with $': { by: { $a: 'a' } },
  'a path with $': { by: { a: '$a' } },
  'a computed key': { by: { a: { $year: '$a' } } },
  'a computed sum': { sum: { a: { $multiply: ['$a', 2] } } },
  'an interval without a width': { by: { a: { path: 'a' } } },
  'an interval of no width': { by: { a: { path: 'a', width: 0 } } },
  'an interval with an operator': { by: { a: { path: 'a', width: 1, offset: { $add: 1 } } } },
  'a path with an array index': { unwind: 'list.0' },
  'a list of names': { min: ['a'] },
};

/** Modifiers, with the document before and after. */
export const MODIFIERS: readonly (readonly [what: string, document: Row, modifier: Modifier, result: Row])[] = [
  [
    '$set',
    { _id: 'a', n: 1 },
    { $set: { n: 'x', at: new Date(5), deep: { list: [1] } } },
    { _id: 'a', n: 'x', at: new Date(5), deep: { list: [1] } },
  ],
  [
    '$set of a nested field',
    { _id: 'a', nested: { other: 1 } },
    { $set: { 'nested.n': 2, 'new.nested.path': 3 } },
    { _id: 'a', nested: { other: 1, n: 2 }, new: { nested: { path: 3 } } },
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
    { $push: { list: { any: 'thing' }, added: [2] } },
    { _id: 'a', list: [1, { any: 'thing' }], added: [[2]] },
  ],
  [
    '$addToSet of an existing element',
    { _id: 'a', list: [1, new Date(5)] },
    { $addToSet: { list: new Date(5), added: 'x' } },
    { _id: 'a', list: [1, new Date(5)], added: ['x'] },
  ],
  [
    '$addToSet of a new element',
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
    'all operators together',
    { _id: 'a', a: 1, b: 1, c: [1], d: [1], e: [1], f: 1 },
    { $set: { a: 2 }, $inc: { b: 1 }, $push: { c: 2 }, $addToSet: { d: 2 }, $pull: { e: 1 }, $unset: { f: true } },
    { _id: 'a', a: 2, b: 2, c: [1, 2], d: [1, 2], e: [] },
  ],
  ['a change to the current value', { _id: 'a', n: 1 }, { $set: { n: 1 } }, { _id: 'a', n: 1 }],
];

/** Valid modifiers that cannot be applied to the values of a document. */
export const INAPPLICABLE_MODIFIERS = [
  ['$inc of a string', { n: 'x' }, { $inc: { n: 1 } }],
  ['$inc of null', { n: null }, { $inc: { n: 1 } }],
  ['$push to a value that is not an array', { n: 1 }, { $push: { n: 1 } }],
  ['$addToSet to a value that is not an array', { n: null }, { $addToSet: { n: 1 } }],
  ['$pull from a value that is not an array', { n: 'x' }, { $pull: { n: 1 } }],
  ['$set through a value without fields', { n: 1 }, { $set: { 'n.x': 1 } }],
  ['$set through null', { n: null }, { $set: { 'n.x': 1 } }],
  ['$set through an array', { n: [] }, { $set: { 'n.x': 1 } }],
] as const satisfies readonly (readonly [what: string, fields: object, modifier: Modifier])[];

export const INVALID_MODIFIERS: Readonly<Record<string, unknown>> = {
  'a replacement': { n: 2 },
  'an empty modifier': {},
  'an operator without fields': { $set: {} },
  'a change of _id': { $set: { _id: 'b' } },
  'the removal of _id': { $unset: { _id: true } },
  'an operator that not all stores support': { $rename: { n: 'm' } },
  $setOnInsert: { $setOnInsert: { n: 1 } },
  $currentDate: { $currentDate: { n: true } },
  '$push with $each': { $push: { list: { $each: [1] } } },
  '$pull with an operator': { $pull: { list: { $gt: 0 } } },
  '$pull with an operator inside': { $pull: { list: { k: { $gt: 0 } } } },
  '$addToSet of an object': { $addToSet: { list: { a: 1 } } },
  '$set of undefined': { $set: { n: undefined } },
  '$set of an operator': { $set: { n: { $gt: 1 } } },
  '$set of an array index': { $set: { 'list.0': 1 } },
  'the positional operator': { $set: { 'list.$': 1 } },
  'a path to a prototype': { $set: { '__proto__.x': 1 } },
  '$inc of a string': { $inc: { n: '1' } },
  '$inc of NaN': { $inc: { n: NaN } },
  '$unset of anything but true': { $unset: { n: 1 } },
  'one path in two operators': { $set: { n: 1 }, $inc: { n: 1 } },
  'a field and a field inside it': { $set: { 'o.a': 1 }, $unset: { o: true } },
  'an aggregation pipeline': [{ $set: { n: 1 } }],
};

function circularObject(): object {
  const fields: Record<string, unknown> = {};
  fields['self'] = fields;
  return fields;
}
