/** A page's connection to Meteor, with its collections. */
import type {
  BrowserCollection,
  BrowserMeteor,
  BrowserMongo,
  BrowserPackages,
  BrowserTracker,
} from './BrowserPackages';
import type { CollectionName } from './collections';

export class MeteorSource {
  readonly Meteor: BrowserMeteor;
  readonly Tracker: BrowserTracker;
  private readonly Mongo: BrowserMongo;
  private readonly collections = new Map<string, unknown>();

  /** @returns the same source for the same `Meteor`, so that the dashboard and the app's components share data */
  static of(packages: BrowserPackages): MeteorSource {
    const { Meteor, Mongo, Tracker } = readPackages(packages);
    const existing = SOURCES.get(Meteor);
    if (existing !== undefined) return existing;
    const created = new MeteorSource({ Meteor, Mongo, Tracker });
    SOURCES.set(Meteor, created);
    return created;
  }

  private constructor({ Meteor, Mongo, Tracker }: BrowserPackages) {
    this.Meteor = Meteor;
    this.Mongo = Mongo;
    this.Tracker = Tracker;
  }

  /** Finds the collection that the app has created itself, or creates it: Meteor allows one per name. */
  collection<T extends { readonly _id: string }>(name: CollectionName<T>): BrowserCollection<T> {
    // The types of older releases do not declare `getCollection`.
    const { getCollection } = this.Mongo as { getCollection?: (name: string) => unknown };
    const collection =
      this.collections.get(name) ?? getCollection?.call(this.Mongo, name) ?? new this.Mongo.Collection(name);
    this.collections.set(name, collection);
    return collection as BrowserCollection<T>;
  }
}

const SOURCES = new WeakMap<BrowserMeteor, MeteorSource>();

/** Paths of the functions that each object must have. */
const REQUIRED: readonly (readonly [name: keyof BrowserPackages, module: string, members: readonly string[]])[] = [
  ['Meteor', 'meteor/meteor', ['subscribe', 'applyAsync', 'status']],
  ['Mongo', 'meteor/mongo', ['Collection']],
  ['Tracker', 'meteor/tracker', ['autorun', 'nonreactive', 'Dependency']],
];

/** @throws TypeError that names every missing or wrong object, with its import */
function readPackages(given: BrowserPackages): BrowserPackages {
  // Apps in JavaScript may leave anything out.
  const packages = (given as BrowserPackages | undefined) ?? ({} as BrowserPackages);
  const problems = REQUIRED.flatMap(([name, module, members]) => {
    const value = packages[name] as unknown as Readonly<Record<string, unknown>> | undefined;
    const missing = members.filter((member) => typeof value?.[member] !== 'function');
    const text = value === undefined ? 'is missing' : `has no ${missing.join(', ')}`;
    return missing.length === 0 ? [] : [`  ${name} ${text}: import { ${name} } from '${module}';`];
  });
  if (problems.length > 0)
    throw new TypeError(`Bolide needs the browser's objects of Meteor 3:\n${problems.join('\n')}`);
  return packages;
}
