// mini-mongod: a small in-memory stand-in for a standalone mongod, for tests and labs.
// Speaks OP_MSG (and OP_QUERY for the first hello); queries, updates and aggregations
// are evaluated by the npm package `mingo`. Two dependencies: bson, mingo. The program of that name starts it alone.
//
// A simulated replica set has a single member, and change streams of a database: inserts, updates, replacements and
// deletions, without resumption of the past, and without documents except the inserted ones.
//
// Not here: authentication, elections, an oplog, transactions (their
// commands are accepted and do nothing), $text, geo, collation
// in queries, the int32/double distinction. All data is lost with it.

import net from 'node:net';
import { BSON } from 'bson';
import { Aggregator, find as mingoFind } from 'mingo';
import { compileQuery, update as mingoUpdate } from '../stubs/server/mongoQueries.cjs';

// The system's own functions, whatever a test does with time.
const { clearInterval, clearTimeout, setInterval, setTimeout } = globalThis;

const { ObjectId, Long, Timestamp } = BSON;
const MAX_DOC = 16 * 1024 * 1024;

// ---------------------------------------------------------------- values

const encode = (doc) => BSON.serialize(doc, { ignoreUndefined: true });
const decode = (buf) => BSON.deserialize(buf, { promoteBuffers: false });
const clone = (doc) => decode(encode(doc));
/** A text that is equal for equal values (1 and 1.0 are equal, as they are to mongod). */
const keyOf = (value) => Buffer.from(encode({ v: value === undefined ? null : value })).toString('base64');
const isPlain = (v) => v !== null && typeof v === 'object' && Object.getPrototypeOf(v) === Object.prototype;
const isOperatorObject = (v) => isPlain(v) && Object.keys(v)[0]?.startsWith('$');
const equal = (a, b) => keyOf(a) === keyOf(b);

class MongoError extends Error {
  constructor(code, codeName, message, extra = {}) {
    super(message);
    Object.assign(this, { code, codeName, extra });
  }
}
const badValue = (message) => new MongoError(2, 'BadValue', message);

/** Every value found at a dotted path; an array on the way, or at the end, fans out. */
function valuesAt(doc, path) {
  let level = [doc];
  for (const part of path.split('.')) {
    const next = [];
    for (const v of level) {
      if (Array.isArray(v)) {
        if (/^\d+$/.test(part)) next.push(v[Number(part)]);
        else for (const e of v) if (isPlain(e)) next.push(e[part]);
      } else if (v !== null && typeof v === 'object') next.push(v[part]);
    }
    level = next;
  }
  const out = level.flatMap((v) => (Array.isArray(v) ? (v.length ? v : [undefined]) : [v]));
  return out.length ? out : [undefined];
}

function setPath(doc, path, value) {
  const parts = path.split('.');
  const last = parts.pop();
  let at = doc;
  for (const part of parts) {
    if (at[part] === null || typeof at[part] !== 'object') at[part] = {};
    at = at[part];
  }
  at[last] = value;
}

/**
 * @param {{ host?: string, port?: number, replicaSet?: boolean, log?: boolean }} [options] port 0 takes a free one. TTL
 *   indexes are swept once a minute, or as often as the parameter ttlMonitorSleepSecs says
 * @returns {Promise<{ url: string, stop: () => Promise<void> }>} listening
 */
export async function startMiniMongod({ host = '127.0.0.1', port = 0, replicaSet = false, log = false } = {}) {
  // ---------------------------------------------------------------- storage

  class Collection {
    docs = new Map(); // keyOf(_id) -> document; a stored document is never changed in place
    indexes = new Map([['_id_', { v: 2, key: { _id: 1 }, name: '_id_' }]]);
    uniques = new Map(); // index name -> Map(index key -> keyOf(_id))

    constructor(ns, options = {}) {
      this.ns = ns;
      this.options = options;
    }

    indexKeys(index, doc) {
      if (index.partialFilterExpression && !compileQuery(index.partialFilterExpression).test(doc)) return [];
      const fields = Object.keys(index.key);
      const columns = fields.map((f) => valuesAt(doc, f));
      if (index.sparse && columns.every((c) => c.every((v) => v === undefined))) return [];
      let rows = [[]];
      for (const column of columns) rows = rows.flatMap((row) => column.map((v) => [...row, v ?? null]));
      return [...new Map(rows.map((row) => [keyOf(row), row]))];
    }

    duplicate(index, row) {
      const fields = Object.keys(index.key);
      const keyValue = Object.fromEntries(fields.map((f, i) => [f, row[i]]));
      const shown = fields.map(
        (f, i) => `${f}: ${row[i] instanceof ObjectId ? `ObjectId('${row[i]}')` : JSON.stringify(row[i])}`,
      );
      return new MongoError(
        11000,
        'DuplicateKey',
        `E11000 duplicate key error collection: ${this.ns} index: ${index.name} dup key: { ${shown.join(', ')} }`,
        { keyPattern: index.key, keyValue },
      );
    }

    /** Stores a document in place of `oldKey` (undefined: a new one), or throws and changes nothing. */
    put(doc, oldKey) {
      if (encode(doc).length > MAX_DOC)
        throw new MongoError(10334, 'BSONObjectTooLarge', 'document is larger than 16 MiB');
      const idKey = keyOf(doc._id);
      if (oldKey === undefined && this.docs.has(idKey)) throw this.duplicate(this.indexes.get('_id_'), [doc._id]);
      const plan = [];
      for (const [name, seen] of this.uniques) {
        const index = this.indexes.get(name);
        const keys = this.indexKeys(index, doc);
        for (const [k, row] of keys) {
          const owner = seen.get(k);
          if (owner !== undefined && owner !== oldKey) throw this.duplicate(index, row);
        }
        plan.push([index, seen, keys]);
      }
      const old = oldKey === undefined ? undefined : this.docs.get(oldKey);
      for (const [index, seen, keys] of plan) {
        if (old) for (const [k] of this.indexKeys(index, old)) seen.delete(k);
        for (const [k] of keys) seen.set(k, idKey);
      }
      this.docs.set(idKey, doc);
      noteChange(this.ns, old ? 'update' : 'insert', doc._id, doc, old);
    }

    remove(key) {
      const doc = this.docs.get(key);
      for (const [name, seen] of this.uniques)
        for (const [k] of this.indexKeys(this.indexes.get(name), doc)) seen.delete(k);
      this.docs.delete(key);
      noteChange(this.ns, 'delete', doc._id);
    }

    addIndex(spec) {
      const name = spec.name ?? Object.entries(spec.key).flat().join('_');
      const same = (a, b) =>
        ['key', 'unique', 'sparse', 'partialFilterExpression', 'expireAfterSeconds'].every(
          (f) => JSON.stringify(a[f] || null) === JSON.stringify(b[f] || null),
        );
      for (const other of this.indexes.values()) {
        if (same(other, spec) && other.name === name) return false;
        if (other.name === name)
          throw new MongoError(
            86,
            'IndexKeySpecsConflict',
            `An existing index has the same name as the requested index: ${name}`,
          );
        if (JSON.stringify(other.key) === JSON.stringify(spec.key)) {
          if (other.name === '_id_') return false;
          throw new MongoError(
            85,
            'IndexOptionsConflict',
            `Index already exists with a different name or different options: ${other.name}`,
          );
        }
      }
      const index = { v: 2, ...spec, name };
      if (index.unique) {
        const seen = new Map();
        for (const [idKey, doc] of this.docs) {
          for (const [k, row] of this.indexKeys(index, doc)) {
            if (seen.has(k) && seen.get(k) !== idKey) throw this.duplicate(index, row);
            seen.set(k, idKey);
          }
        }
        this.uniques.set(name, seen);
      }
      this.indexes.set(name, index);
      return true;
    }

    /** The documents a filter matches, in insertion order; an equality on _id goes by the map. */
    select(filter = {}) {
      const id = filter._id;
      let candidates = this.docs.values();
      if (id !== undefined && !(id instanceof RegExp)) {
        const ids = !isOperatorObject(id) ? [id] : '$eq' in id ? [id.$eq] : Array.isArray(id.$in) ? id.$in : null;
        if (ids && !ids.some((v) => Array.isArray(v) || v instanceof RegExp || v === null)) {
          candidates = [...new Set(ids.map(keyOf))].map((k) => this.docs.get(k)).filter(Boolean);
        }
      }
      const query = Object.keys(filter).length ? compileQuery(filter) : null;
      return query ? [...candidates].filter((d) => query.test(d)) : [...candidates];
    }
  }

  const databases = new Map(); // db name -> Map(collection name -> Collection)
  const dbOf = (db) => databases.get(db) ?? databases.set(db, new Map()).get(db);
  const peek = (db, name) => databases.get(db)?.get(name);
  function coll(db, name, options) {
    const all = dbOf(db);
    if (!all.has(name)) all.set(name, new Collection(`${db}.${name}`, options));
    return all.get(name);
  }
  const docsOf = (db, name, filter) => peek(db, name)?.select(filter) ?? [];

  // ---------------------------------------------------------------- reading

  function sorted(docs, { sort, skip, limit, collation }) {
    const hasSort = sort && Object.keys(sort).length;
    if (!hasSort) return docs.slice(skip ?? 0, limit ? (skip ?? 0) + limit : undefined);
    let cursor = compileQuery({}, collation ? { collation } : {})
      .find(docs)
      .sort(sort);
    if (skip) cursor = cursor.skip(skip);
    if (limit) cursor = cursor.limit(limit);
    return cursor.all();
  }

  /** Where in the array at `path` the first element is that the filter's conditions on it match. */
  function positionOf(doc, path, filter) {
    const own = Object.entries(filter).filter(([k]) => k === path || k.startsWith(`${path}.`));
    if (!own.length) throw badValue(`The positional operator did not find the match needed from the query: '${path}'`);
    const query = compileQuery(Object.fromEntries(own));
    const list = path.split('.').reduce((v, part) => v?.[part], doc);
    return Array.isArray(list)
      ? list.findIndex((e) => {
          const probe = {};
          setPath(probe, path, [e]);
          return query.test(probe);
        })
      : -1;
  }

  function project(docs, projection, filter = {}) {
    if (!projection || !Object.keys(projection).length) return docs;
    const copies = docs.map(clone);
    const fields = {};
    for (const [k, v] of Object.entries(projection)) {
      const path = k.endsWith('.$') ? k.slice(0, -2) : k;
      fields[path] = v;
      if (path === k) continue;
      for (const doc of copies) {
        const at = positionOf(doc, path, filter);
        setPath(doc, path, at < 0 ? [] : [path.split('.').reduce((o, part) => o[part], doc)[at]]);
      }
    }
    return mingoFind(copies, {}, fields).all();
  }

  const cursors = new Map();
  let lastCursor = Date.now() % 1e6;
  /** The first batch of a result, the rest kept under a cursor id. */
  function openCursor(ns, docs, batchSize, single = false) {
    const first = docs.slice(0, batchSize ?? 101);
    let id = 0;
    if (!single && docs.length > first.length) {
      id = ++lastCursor;
      cursors.set(id, { ns, docs, at: first.length });
    }
    return { cursor: { id: Long.fromNumber(id), ns, firstBatch: first }, ok: 1 };
  }

  // ---------------------------------------------------------------- change streams

  let changes = 0;
  /** By the ids of cursors. */
  const streams = new Map();

  function openStream(cmd) {
    const id = ++lastCursor;
    streams.set(id, {
      db: cmd.$db,
      ns: `${cmd.$db}.$cmd.aggregate`,
      stages: cmd.pipeline.slice(1),
      found: [],
      wake: undefined,
    });
    return {
      cursor: {
        id: Long.fromNumber(id),
        ns: `${cmd.$db}.$cmd.aggregate`,
        firstBatch: [],
        postBatchResumeToken: tokenOf(),
      },
      ok: 1,
      ...timeOf(),
    };
  }
  const tokenOf = () => ({ _data: String(changes).padStart(16, '0') });

  /** @param {object} [doc] @param {object} [old] */
  function noteChange(namespace, operationType, key, doc, old) {
    if (!streams.size) return;
    const dot = namespace.indexOf('.');
    const [db, collection] = [namespace.slice(0, dot), namespace.slice(dot + 1)];
    changes += 1;
    const change = {
      _id: tokenOf(),
      operationType,
      clusterTime: timeOf().operationTime,
      ns: { db, coll: collection },
      documentKey: { _id: key },
      ...(operationType === 'insert' ? { fullDocument: doc } : {}),
      ...(operationType === 'update' ? { updateDescription: difference(old, doc) } : {}),
    };
    for (const stream of streams.values()) {
      if (stream.db !== db) continue;
      stream.found.push(...new Aggregator(stream.stages).run([change]));
      if (stream.found.length) stream.wake?.();
    }
  }

  /** By whole fields, whereas a server reports paths. */
  function difference(old, doc) {
    const updated = Object.entries(doc).filter(([name, value]) => !(name in old) || !equal(value, old[name]));
    const removedFields = Object.keys(old).filter((name) => !(name in doc));
    return { updatedFields: Object.fromEntries(updated), removedFields, truncatedArrays: [] };
  }

  /** Waits for changes, as long as the command says. */
  async function nextChanges(cmd, id, stream) {
    if (!stream.found.length) {
      let timer;
      await new Promise((resolve) => {
        stream.wake = resolve;
        timer = setTimeout(resolve, Number(cmd.maxTimeMS ?? 1000)).unref();
      });
      clearTimeout(timer);
      stream.wake = undefined;
    }
    const nextBatch = stream.found.splice(0);
    return {
      cursor: {
        id: Long.fromNumber(streams.has(id) ? id : 0),
        ns: stream.ns,
        nextBatch,
        postBatchResumeToken: tokenOf(),
      },
      ok: 1,
      ...timeOf(),
    };
  }

  function aggregate(db, name, pipeline, variables) {
    if (pipeline.some((stage) => '$changeStream' in stage)) {
      throw new MongoError(40573, 'Location40573', 'The $changeStream stage is only supported on replica sets');
    }
    const input = typeof name === 'string' ? docsOf(db, name).map(clone) : [{}];
    return new Aggregator(pipeline, { collectionResolver: (c) => docsOf(db, c).map(clone), variables }).run(input);
  }

  // ---------------------------------------------------------------- writing

  /** The fields an upsert takes over from the equalities in its filter. */
  function equalities(filter, into = {}) {
    for (const [k, v] of Object.entries(filter)) {
      if (k === '$and') for (const part of v) equalities(part, into);
      else if (k === '$or' && v.length === 1) equalities(v[0], into);
      else if (k.startsWith('$') || v instanceof RegExp) continue;
      else if (!isOperatorObject(v)) setPath(into, k, v);
      else if ('$eq' in v) setPath(into, k, v.$eq);
      else if (Array.isArray(v.$in) && v.$in.length === 1) setPath(into, k, v.$in[0]);
      else if (Array.isArray(v.$all) && v.$all.length === 1) setPath(into, k, v.$all);
    }
    return into;
  }

  /** $pull by hand: mingo's takes no $or/$and in its condition, and Meteor's accounts use one. */
  function pull(doc, spec) {
    for (const [path, condition] of Object.entries(spec)) {
      const list = path.split('.').reduce((v, part) => v?.[part], doc);
      if (!Array.isArray(list)) continue;
      const onFields =
        isPlain(condition) && (!isOperatorObject(condition) || /^\$(or|and|nor)$/.test(Object.keys(condition)[0]));
      const query = compileQuery(onFields ? condition : { v: condition });
      setPath(
        doc,
        path,
        list.filter((e) => !(onFields ? isPlain(e) && query.test(e) : query.test({ v: e }))),
      );
    }
  }

  /** $addToSet by hand: mingo's takes a list that holds an element twice for one that has the new element already. */
  function addToSet(doc, spec) {
    for (const [path, value] of Object.entries(spec)) {
      if (path.includes('$[')) continue;
      const list = path.split('.').reduce((v, part) => v?.[part], doc) ?? [];
      for (const item of isPlain(value) && Array.isArray(value.$each) ? value.$each : [value]) {
        if (!list.some((e) => equal(e, item))) list.push(item);
      }
      setPath(doc, path, list);
      Reflect.deleteProperty(spec, path);
    }
  }

  /** What mongod refuses because of what is in the document, and mingo passes over. */
  function refuseImpossible(doc, mods) {
    for (const [operator, changes] of Object.entries(mods)) {
      for (const path of Object.keys(changes ?? {})) {
        if (/(^|\.)\$|\.\d+(\.|$)/.test(path)) continue;
        let value = doc;
        let blocked = false;
        for (const part of path.split('.')) {
          if (value === undefined) break;
          if (!isPlain(value)) {
            blocked = true;
            value = undefined;
            break;
          }
          value = value[part];
        }
        if (blocked && !['$unset', '$pull', '$pullAll', '$pop'].includes(operator))
          throw new MongoError(28, 'PathNotViable', `Cannot create field in element of path '${path}'`);
        if (value === undefined) continue;
        if (['$inc', '$mul'].includes(operator) && typeof value !== 'number' && !(value instanceof Long))
          throw new MongoError(
            14,
            'TypeMismatch',
            `Cannot apply ${operator} to a value of non-numeric type: '${path}'`,
          );
        if (['$push', '$addToSet', '$pull', '$pullAll', '$pop'].includes(operator) && !Array.isArray(value))
          throw badValue(`The field '${path}' must be an array`);
      }
    }
  }

  /** The document an update makes of `doc` (a new object); `inserting` adds $setOnInsert. */
  function changed(doc, u, { filter = {}, arrayFilters, inserting = false, variables }) {
    if (Array.isArray(u)) {
      const [out] = new Aggregator(u, { variables }).run([clone(doc)]);
      return { _id: doc._id, ...out };
    }
    if (!isOperatorObject(u)) {
      if (Object.keys(u).some((k) => k.startsWith('$')))
        throw badValue('a replacement document must not contain update operators');
      const { _id = doc._id, ...rest } = clone(u);
      return { _id, ...rest };
    }
    const next = clone(doc);
    const { $setOnInsert, ...mods } = clone(u);
    refuseImpossible(doc, mods);
    for (const key of Object.keys(mods)) {
      if (!key.startsWith('$')) throw new MongoError(9, 'FailedToParse', `Unknown modifier: ${key}`);
      // mingo refuses to set an _id, even to the value it has
      if (key === '$set' && mods.$set && '_id' in mods.$set && equal(mods.$set._id, next._id ?? mods.$set._id)) {
        next._id = mods.$set._id;
        delete mods.$set._id;
      }
      for (const path of Object.keys(mods[key])) {
        const [, array, rest] = path.match(/^(.*?)\.\$(\..*)?$/) ?? []; // a.$ and a.$.b: put the index in
        if (array === undefined) continue;
        mods[key][`${array}.${positionOf(doc, array, filter)}${rest ?? ''}`] = mods[key][path];
        Reflect.deleteProperty(mods[key], path);
      }
      if (key === '$addToSet') addToSet(next, mods.$addToSet);
      if (key === '$pull') {
        pull(next, mods.$pull);
        delete mods.$pull;
      } else if (!Object.keys(mods[key]).length) Reflect.deleteProperty(mods, key);
    }
    if (Object.keys(mods).length) {
      try {
        mingoUpdate(next, mods, arrayFilters ?? [], {}, { cloneMode: 'none' });
      } catch (e) {
        throw new MongoError(
          /immutable/.test(e.message) ? 66 : 2,
          /immutable/.test(e.message) ? 'ImmutableField' : 'BadValue',
          e.message,
        );
      }
    }
    if (inserting && $setOnInsert) for (const [k, v] of Object.entries($setOnInsert)) setPath(next, k, v);
    return next;
  }

  /** One update statement; says how many matched and changed, and what was upserted. */
  function updateOne(c, { q = {}, u, multi = false, upsert = false, arrayFilters, sort, c: variables }) {
    let found = c.select(q);
    if (!multi) found = sorted(found, { sort, limit: 1 });
    if (multi && !Array.isArray(u) && !isOperatorObject(u))
      throw new MongoError(9, 'FailedToParse', 'multi update is not supported for replacement-style update');
    if (!found.length) {
      if (!upsert) return { n: 0, nModified: 0 };
      const doc = changed(equalities(q), u, { filter: q, arrayFilters, inserting: true, variables });
      if (doc._id === undefined) doc._id = new ObjectId();
      const { _id, ...rest } = doc;
      const after = { _id, ...rest };
      c.put(after);
      return { n: 1, nModified: 0, upserted: _id, after };
    }
    let nModified = 0;
    let after;
    for (const doc of found) {
      after = changed(doc, u, { filter: q, arrayFilters, variables });
      if (!equal(after._id, doc._id))
        throw new MongoError(
          66,
          'ImmutableField',
          "Performing an update on the path '_id' would modify the immutable field '_id'",
        );
      if (equal(after, doc)) continue;
      c.put(after, keyOf(doc._id));
      nModified++;
    }
    return { n: found.length, nModified, before: found[0], after };
  }

  /** Runs the statements of a write command; an error ends it when ordered. */
  function each(list, ordered, run) {
    const writeErrors = [];
    for (const [index, item] of list.entries()) {
      try {
        run(item, index);
      } catch (e) {
        writeErrors.push({ index, code: e.code ?? 2, ...e.extra, errmsg: e.message });
        if (ordered !== false) break;
      }
    }
    return writeErrors.length ? { writeErrors } : {};
  }

  // ---------------------------------------------------------------- commands

  let connections = 0;
  const hello = (cmd, conn) => ({
    ...(cmd.hello ? { isWritablePrimary: true } : { ismaster: true }),
    helloOk: true,
    maxBsonObjectSize: MAX_DOC,
    maxMessageSizeBytes: 48000000,
    maxWriteBatchSize: 100000,
    localTime: new Date(),
    logicalSessionTimeoutMinutes: 30,
    connectionId: conn.id,
    minWireVersion: 0,
    maxWireVersion: 21,
    readOnly: false,
    ok: 1,
    ...(replicaSet
      ? { setName: 'mini', setVersion: 1, secondary: false, hosts: [self()], me: self(), primary: self(), ...timeOf() }
      : {}),
  });
  const self = () => `${host}:${server.address().port}`;
  const timeOf = () => {
    const time = new Timestamp({ t: Math.floor(Date.now() / 1000), i: changes });
    return {
      operationTime: time,
      $clusterTime: { clusterTime: time, signature: { hash: new BSON.Binary(Buffer.alloc(20)), keyId: Long.ZERO } },
    };
  };
  const ok = () => ({ ok: 1 });
  const VERSION = '7.0.5';

  const commands = {
    hello,
    ismaster: hello,
    isMaster: hello,
    ping: ok,
    endSessions: ok,
    refreshSessions: ok,
    killSessions: ok,
    abortTransaction: ok,
    commitTransaction: ok,
    collMod: ok,
    setParameter(cmd) {
      if (cmd.ttlMonitorSleepSecs !== undefined) sweepEvery(Number(cmd.ttlMonitorSleepSecs));
      return { ok: 1 };
    },
    buildInfo: () => ({
      version: VERSION,
      versionArray: [7, 0, 5, 0],
      gitVersion: 'mini-mongod',
      modules: [],
      bits: 64,
      maxBsonObjectSize: MAX_DOC,
      storageEngines: ['memory'],
      ok: 1,
    }),
    buildinfo: () => commands.buildInfo(),
    getParameter: () => ({ featureCompatibilityVersion: { version: '7.0' }, ok: 1 }),
    serverStatus: () => ({
      host: host,
      version: VERSION,
      process: 'mini-mongod',
      pid: process.pid,
      uptime: process.uptime(),
      localTime: new Date(),
      connections: { current: connections },
      storageEngine: { name: 'memory' },
      ok: 1,
    }),

    listDatabases: () => ({
      databases: [...databases].map(([name, cs]) => ({ name, sizeOnDisk: 1, empty: !cs.size })),
      totalSize: 1,
      ok: 1,
    }),
    listCollections(cmd) {
      const db = cmd.$db;
      const all = [...dbOf(db)].map(([name, c]) => ({
        name,
        type: 'collection',
        ...(cmd.nameOnly ? {} : { options: c.options, info: { readOnly: false }, idIndex: c.indexes.get('_id_') }),
      }));
      return openCursor(
        `${db}.$cmd.listCollections`,
        compileQuery(cmd.filter ?? {})
          .find(all)
          .all(),
        10000,
      );
    },
    create(cmd) {
      if (peek(cmd.$db, cmd.create))
        throw new MongoError(48, 'NamespaceExists', `Collection ${cmd.$db}.${cmd.create} already exists.`);
      const { capped, size, max, validator } = cmd;
      coll(cmd.$db, cmd.create, { capped, size, max, validator });
      return { ok: 1 };
    },
    drop(cmd) {
      const c = peek(cmd.$db, cmd.drop);
      if (!c) throw new MongoError(26, 'NamespaceNotFound', 'ns not found');
      databases.get(cmd.$db).delete(cmd.drop);
      return { nIndexesWas: c.indexes.size, ns: c.ns, ok: 1 };
    },
    dropDatabase(cmd) {
      databases.delete(cmd.$db);
      return { dropped: cmd.$db, ok: 1 };
    },
    createIndexes(cmd) {
      const isNew = !peek(cmd.$db, cmd.createIndexes);
      const c = coll(cmd.$db, cmd.createIndexes);
      const before = c.indexes.size;
      for (const spec of cmd.indexes) c.addIndex(spec);
      return {
        numIndexesBefore: before,
        numIndexesAfter: c.indexes.size,
        createdCollectionAutomatically: isNew,
        ok: 1,
      };
    },
    listIndexes(cmd) {
      const c = peek(cmd.$db, cmd.listIndexes);
      if (!c) throw new MongoError(26, 'NamespaceNotFound', `ns does not exist: ${cmd.$db}.${cmd.listIndexes}`);
      return openCursor(`${cmd.$db}.${cmd.listIndexes}`, [...c.indexes.values()], 1000);
    },
    dropIndexes(cmd) {
      const c = peek(cmd.$db, cmd.dropIndexes);
      if (!c) throw new MongoError(26, 'NamespaceNotFound', 'ns not found');
      const nIndexesWas = c.indexes.size;
      const wanted = [].concat(cmd.index);
      for (const { name, key } of [...c.indexes.values()]) {
        const hit = wanted.some(
          (w) => w === '*' || w === name || (isPlain(w) && JSON.stringify(w) === JSON.stringify(key)),
        );
        if (!hit || name === '_id_') continue;
        c.indexes.delete(name);
        c.uniques.delete(name);
      }
      if (c.indexes.size === nIndexesWas && wanted[0] !== '*')
        throw new MongoError(27, 'IndexNotFound', `index not found with name [${wanted}]`);
      return { nIndexesWas, ok: 1 };
    },

    find(cmd) {
      const ns = `${cmd.$db}.${cmd.find}`;
      const filter = cmd.filter ?? {};
      const docs = sorted(docsOf(cmd.$db, cmd.find, filter), { ...cmd, limit: Math.abs(cmd.limit ?? 0) });
      return openCursor(ns, project(docs, cmd.projection, filter), cmd.batchSize, cmd.singleBatch || cmd.limit < 0);
    },
    getMore(cmd) {
      const id = Number(cmd.getMore);
      const stream = streams.get(id);
      if (stream) return nextChanges(cmd, id, stream);
      const cur = cursors.get(id);
      if (!cur) throw new MongoError(43, 'CursorNotFound', `cursor id ${id} not found`);
      const nextBatch = cur.docs.slice(cur.at, (cur.at += cmd.batchSize || 1000));
      const done = cur.at >= cur.docs.length;
      if (done) cursors.delete(id);
      return { cursor: { id: Long.fromNumber(done ? 0 : id), ns: cur.ns, nextBatch }, ok: 1 };
    },
    killCursors(cmd) {
      for (const id of cmd.cursors) {
        cursors.delete(Number(id));
        streams.get(Number(id))?.wake?.();
        streams.delete(Number(id));
      }
      return { cursorsKilled: cmd.cursors, cursorsNotFound: [], cursorsAlive: [], cursorsUnknown: [], ok: 1 };
    },
    count(cmd) {
      return {
        n: sorted(docsOf(cmd.$db, cmd.count, cmd.query), { skip: cmd.skip, limit: Math.abs(cmd.limit ?? 0) }).length,
        ok: 1,
      };
    },
    distinct(cmd) {
      const seen = new Map();
      for (const doc of docsOf(cmd.$db, cmd.distinct, cmd.query)) {
        for (const v of valuesAt(doc, cmd.key)) if (v !== undefined) seen.set(keyOf(v), v);
      }
      return { values: [...seen.values()], ok: 1 };
    },
    aggregate(cmd) {
      if (replicaSet && cmd.pipeline[0]?.$changeStream) return openStream(cmd);
      const docs = aggregate(cmd.$db, cmd.aggregate, cmd.pipeline, cmd.let);
      return openCursor(
        `${cmd.$db}.${typeof cmd.aggregate === 'string' ? cmd.aggregate : '$cmd.aggregate'}`,
        docs,
        cmd.cursor?.batchSize,
      );
    },
    collStats: (cmd) => ({
      ns: `${cmd.$db}.${cmd.collStats}`,
      count: docsOf(cmd.$db, cmd.collStats).length,
      size: 0,
      storageSize: 0,
      nindexes: peek(cmd.$db, cmd.collStats)?.indexes.size ?? 0,
      ok: 1,
    }),
    dbStats: (cmd) => ({ db: cmd.$db, collections: dbOf(cmd.$db).size, objects: 0, ok: 1 }),

    insert(cmd) {
      const c = coll(cmd.$db, cmd.insert);
      let n = 0;
      const errors = each(cmd.documents, cmd.ordered, (doc) => {
        const { _id = new ObjectId(), ...rest } = doc;
        if (Array.isArray(_id) || _id instanceof RegExp)
          throw new MongoError(53, 'InvalidIdField', "The '_id' value cannot be of type array or regex");
        c.put({ _id, ...rest });
        n++;
      });
      return { n, ...errors, ok: 1 };
    },
    update(cmd) {
      const c = coll(cmd.$db, cmd.update);
      const sum = { n: 0, nModified: 0 };
      const upserted = [];
      const errors = each(cmd.updates, cmd.ordered, (statement, index) => {
        const r = updateOne(c, { c: cmd.let, ...statement });
        sum.n += r.n;
        sum.nModified += r.nModified;
        if ('upserted' in r) upserted.push({ index, _id: r.upserted });
      });
      return { ...sum, ...(upserted.length ? { upserted } : {}), ...errors, ok: 1 };
    },
    delete(cmd) {
      const c = coll(cmd.$db, cmd.delete);
      let n = 0;
      const errors = each(cmd.deletes, cmd.ordered, ({ q, limit }) => {
        const docs = c.select(q);
        for (const doc of limit ? docs.slice(0, 1) : docs) {
          c.remove(keyOf(doc._id));
          n++;
        }
      });
      return { n, ...errors, ok: 1 };
    },
    findAndModify(cmd) {
      const c = coll(cmd.$db, cmd.findAndModify ?? cmd.findandmodify);
      const { query = {}, sort, remove, update, upsert, fields, arrayFilters } = cmd;
      if (remove) {
        const [doc] = sorted(c.select(query), { sort, limit: 1 });
        if (doc) c.remove(keyOf(doc._id));
        return { lastErrorObject: { n: doc ? 1 : 0 }, value: doc ? project([doc], fields, query)[0] : null, ok: 1 };
      }
      const r = updateOne(c, { q: query, u: update, upsert, arrayFilters, sort, c: cmd.let });
      const value = cmd.new ? r.after : r.before;
      return {
        lastErrorObject: { n: r.n, updatedExisting: !!r.before, ...('upserted' in r ? { upserted: r.upserted } : {}) },
        value: value ? project([value], fields, query)[0] : null,
        ok: 1,
      };
    },
    findandmodify: (cmd) => commands.findAndModify(cmd),
  };

  function run(cmd, conn) {
    const name = Object.keys(cmd)[0];
    const started = performance.now();
    let reply;
    try {
      const handler = Object.hasOwn(commands, name) ? commands[name] : null;
      if (!handler) throw new MongoError(59, 'CommandNotFound', `no such command: '${name}'`);
      reply = handler(cmd, conn);
    } catch (e) {
      if (!(e instanceof MongoError) && log) console.error(e);
      reply = { ok: 0, errmsg: e.message, code: e.code ?? 2, codeName: e.codeName ?? 'BadValue', ...e.extra };
    }
    if (log)
      console.log(
        conn.id,
        name,
        cmd[name],
        (performance.now() - started).toFixed(1) + 'ms',
        reply.ok ? '' : reply.errmsg,
      );
    return reply;
  }

  // ---------------------------------------------------------------- wire protocol

  const OP_REPLY = 1,
    OP_QUERY = 2004,
    OP_MSG = 2013;
  let lastRequest = 0;

  function frame(opCode, responseTo, parts) {
    const body = Buffer.concat(parts);
    const head = Buffer.alloc(16);
    [16 + body.length, ++lastRequest, responseTo, opCode].forEach((v, i) => head.writeInt32LE(v, i * 4));
    return Buffer.concat([head, body]);
  }

  /** The answer to one message, or null where none is wanted. */
  function answer(msg, conn) {
    const requestId = msg.readInt32LE(4);
    const opCode = msg.readInt32LE(12);
    const sub = (at) => msg.subarray(at, at + msg.readInt32LE(at));
    if (opCode === OP_QUERY) {
      const nameEnd = msg.indexOf(0, 20);
      const ns = msg.toString('utf8', 20, nameEnd);
      const doc = decode(sub(nameEnd + 9));
      const reply = run({ ...(doc.$query ?? doc), $db: ns.split('.')[0] }, conn);
      const head = Buffer.alloc(20);
      head.writeInt32LE(8, 0); // AwaitCapable
      head.writeInt32LE(1, 16); // one document
      return frame(OP_REPLY, requestId, [head, encode(reply)]);
    }
    if (opCode !== OP_MSG) throw new Error(`opcode ${opCode} is not supported`);
    const flags = msg.readUInt32LE(16);
    const end = msg.length - (flags & 1 ? 4 : 0); // a checksum ends the message
    let cmd = {};
    const sequences = {};
    for (let at = 20; at < end;) {
      const kind = msg[at++];
      const size = msg.readInt32LE(at);
      if (kind === 0) cmd = decode(sub(at));
      else {
        const nameEnd = msg.indexOf(0, at + 4);
        const docs = (sequences[msg.toString('utf8', at + 4, nameEnd)] = []);
        for (let p = nameEnd + 1; p < at + size; p += msg.readInt32LE(p)) docs.push(decode(sub(p)));
      }
      at += size;
    }
    const reply = run(Object.assign(cmd, sequences), conn);
    const framed = (doc) => frame(OP_MSG, requestId, [Buffer.alloc(5), encode(doc)]);
    if (reply instanceof Promise) return reply.then(framed); // of a change stream
    if (flags & 2) return null; // moreToCome: an unacknowledged write
    return framed(reply);
  }

  const sockets = new Set();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    const conn = { id: ++connections };
    let pending = Buffer.alloc(0);
    socket.setNoDelay(true);
    socket.on('data', (chunk) => {
      pending = pending.length ? Buffer.concat([pending, chunk]) : chunk;
      while (pending.length >= 16 && pending.length >= pending.readInt32LE(0)) {
        const size = pending.readInt32LE(0);
        try {
          const out = answer(pending.subarray(0, size), conn);
          if (out instanceof Promise) void out.then((late) => socket.destroyed || socket.write(late));
          else if (out) socket.write(out);
        } catch (e) {
          console.error('mini-mongod: dropping a connection:', e.message);
          return socket.destroy();
        }
        pending = pending.subarray(size);
      }
    });
    socket.on('error', () => {});
  });

  let sweeper;
  function sweepEvery(seconds) {
    clearInterval(sweeper);
    sweeper = setInterval(sweep, seconds * 1000).unref();
  }
  function sweep() {
    for (const cs of databases.values())
      for (const c of cs.values())
        for (const { key, expireAfterSeconds } of c.indexes.values()) {
          if (expireAfterSeconds === undefined) continue;
          const limit = Date.now() - expireAfterSeconds * 1000;
          for (const [k, doc] of c.docs)
            if (valuesAt(doc, Object.keys(key)[0]).some((v) => v instanceof Date && +v < limit)) c.remove(k);
        }
  }
  sweepEvery(60);

  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    url: `mongodb://${self()}/`,
    stop() {
      clearInterval(sweeper);
      for (const stream of streams.values()) stream.wake?.();
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
