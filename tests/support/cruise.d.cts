export interface Violation {
  /** Relative to the directory. */
  readonly from: string;
  readonly rule: { readonly name: string };
}

/** What breaks the rules of a directory's `.dependency-cruiser.cjs` in these folders of it. */
export function findViolations(directory: string, folders: readonly string[]): Promise<readonly Violation[]>;
