/** The types of BuildCache.cjs, which runs before TypeScript can. */
export declare class BuildCache {
  readonly directory: string;
  constructor(directory?: string, root?: string, sources?: readonly string[]);
  covers(file: string): boolean;
  find(name: string): string | undefined;
  add(name: string, build: (directory: string) => Promise<void>): Promise<string>;
}

export declare const buildCache: BuildCache;
