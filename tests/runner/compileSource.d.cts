/** @returns the module's code, as CommonJS. @throws esbuild's TransformFailure */
export declare function compileSource(file: string): string;
/** @returns how many had changed */
export declare function compileSources(files: readonly string[]): Promise<number>;
