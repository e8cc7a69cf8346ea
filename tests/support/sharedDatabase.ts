/** A database of which it is not assumed that this process is alone with it. */
import type { DocumentDatabase } from '../../imports/database/DocumentDatabase';

export function sharedDatabase(database: DocumentDatabase): DocumentDatabase {
  return new Proxy(database, {
    get: (target, name) => {
      if (name === 'isExclusive') return false;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
