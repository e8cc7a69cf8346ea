/** Collections that subscriptions fill: one per name. */
import type { Fields } from '../server/MemoryCollection';
import { connection } from './connection';
import { LocalCollection, LocalCursor } from './LocalCollection';

export { LocalCursor as Cursor };

const defined = new Map<string, object>();

export class Collection<T extends { _id: string }> {
  private readonly local = new LocalCollection();

  constructor(name: string) {
    if (defined.has(name)) throw new Error(`There is already a collection named "${name}"`);
    defined.set(name, this);
    connection.registerStore(name, this.local);
  }

  find(selector: object = {}, options: { readonly sort?: Readonly<Record<string, 1 | -1>> } = {}): LocalCursor<T> {
    return new LocalCursor<T>(this.local, selector as Fields, options);
  }

  findOne(selector: object): T | undefined {
    return this.find(selector).fetch()[0];
  }
}

export function getCollection(name: string): unknown {
  return defined.get(name);
}
