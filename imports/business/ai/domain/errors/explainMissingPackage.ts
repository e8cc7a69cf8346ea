/** Explains why an optional package could not be loaded. */
import { MissingPackageError } from './LLMErrors';

/**
 * For the `catch` of a `try` that contains the literal `import()`: there, bundlers accept that a package is missing.
 * @param error what the `import()` threw
 * @param user what needs the package, as the start of a sentence: `The vendor "groq"`
 * @returns a MissingPackageError, or the error itself if the package was found but could not be loaded
 */
export function explainMissingPackage(error: unknown, packageName: string, user: string): unknown {
  return isNotFound(error) && error.message.includes(`'${packageName}'`)
    ? new MissingPackageError(packageName, user, { cause: error })
    : error;
}

/** Error codes for ES modules, and for CommonJS and bundlers. */
const CODES = ['ERR_MODULE_NOT_FOUND', 'MODULE_NOT_FOUND'];

function isNotFound(error: unknown): error is Error {
  return error instanceof Error && 'code' in error && CODES.includes(String(error.code));
}
