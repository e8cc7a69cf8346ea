/** @param base a commit @returns paths relative to the repository */
export declare function changedSince(base: string): string[];
export declare function selectAffected(tests: readonly string[], changed: readonly string[]): string[];
