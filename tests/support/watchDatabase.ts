/** A database whose pending operations can be awaited, so that a virtual clock does not outrun them. */
import type { DocumentDatabase } from '../../imports/database/DocumentDatabase';

export interface WatchedDatabase {
  readonly database: DocumentDatabase;
  /** Resolves once a turn of the event loop begins and ends without an operation. */
  readonly idle: () => Promise<void>;
}

export function watchDatabase(watched: DocumentDatabase): WatchedDatabase {
  let pending = 0;
  const watch = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(_target, key) {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== 'function') return value;
        return (...call: unknown[]): unknown => {
          const result: unknown = Reflect.apply(value, target, call);
          if (!(result instanceof Promise)) return key === 'collection' ? watch(result as object) : result;
          pending += 1;
          return result.finally(() => (pending -= 1));
        };
      },
    });
  return {
    database: watch(watched),
    idle: async () => {
      do await new Promise((resolve) => setImmediate(resolve));
      while (pending > 0);
    },
  };
}
