import type { Options, Query, update as mingoUpdate } from 'mingo';

export declare function compileQuery(filter: Record<string, unknown>, options?: Partial<Options>): Query;
export declare const update: typeof mingoUpdate;
