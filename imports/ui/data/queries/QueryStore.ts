/** The queries of a page. Components that ask the same share one. */
import type { Loaded, QueryUse } from '../DashboardData';
import { Observable } from '../Observable';
import type { ReadonlyObservable } from '../Observable';
import { OPERATION_TABLE } from '../operationTable';
import type { ArgumentOf, OperationName, ResultOf } from '../operations';
import type { ChangeSource } from './ChangeSource';
import { Query } from './Query';

export interface QueryStoreOptions {
  readonly call: <N extends OperationName>(name: N, argument: ArgumentOf<N>) => Promise<ResultOf<N>>;
  readonly changes: ChangeSource;
  /** Minimum milliseconds between two loads of a query that changes cause. Default: 1000. */
  readonly reloadIntervalMs?: number;
}

/** Queries that are retained, with their last values, when no component shows them. */
const MAX_RETAINED = 50;

export class QueryStore {
  private readonly options: QueryStoreOptions;
  private readonly queries = new Map<string, { readonly name: OperationName; readonly query: Query }>();

  constructor(options: QueryStoreOptions) {
    this.options = options;
  }

  /**
   * The same query for the same argument.
   * @param argument undefined for a value that stays `loading`
   * @param session separates the users who sign in one after another
   */
  query<N extends OperationName>(
    name: N,
    argument: ArgumentOf<N> | undefined,
    session = '',
    { isBackground = false }: QueryUse = {},
  ): ReadonlyObservable<Loaded<ResultOf<N>>> {
    if (argument === undefined) return NOTHING;
    const key = JSON.stringify([session, name, sortFields(argument), isBackground]);
    const entry = this.queries.get(key) ?? { name, query: this.createQuery(name, argument, isBackground) };
    // The most recently used come last.
    this.queries.delete(key);
    this.queries.set(key, entry);
    this.evict(key);
    // The key includes the name.
    return entry.query as ReadonlyObservable<Loaded<ResultOf<N>>>;
  }

  /** Carries out a command, after which the queries of its topics are loaded again. */
  async call<N extends OperationName>(name: N, argument: ArgumentOf<N>): Promise<ResultOf<N>> {
    const result = await this.options.call(name, argument);
    const topics = OPERATION_TABLE[name].topics;
    for (const { name: queried, query } of this.queries.values())
      if (query.hasSubscribers && OPERATION_TABLE[queried].topics.some((topic) => topics.includes(topic)))
        query.reload();
    return result;
  }

  private createQuery<N extends OperationName>(name: N, argument: ArgumentOf<N>, isBackground: boolean): Query {
    const { call, changes, reloadIntervalMs = 1_000 } = this.options;
    return new Query({
      load: () => call(name, argument),
      subscribe: (listener) => changes.subscribe(OPERATION_TABLE[name].topics, listener),
      reloadIntervalMs,
      isBackground,
    });
  }

  private evict(used: string): void {
    for (const [key, { query }] of this.queries) {
      if (this.queries.size <= MAX_RETAINED) return;
      if (key !== used && !query.hasSubscribers) this.queries.delete(key);
    }
  }
}

const NOTHING = new Observable<{ readonly state: 'loading' }>({ state: 'loading' });

/** The order of fields makes no difference, and neither does a field that is undefined. */
function sortFields(value: object): object {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
