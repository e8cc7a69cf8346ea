/** Collects what is wrong with settings, so that one error names all of it. */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';

/** Several settings are invalid. */
class InvalidSettingsError extends LLMInvalidRequestError {
  readonly problems: readonly LLMInvalidRequestError[];

  constructor(problems: readonly LLMInvalidRequestError[]) {
    const lines = problems.map(({ message }) => `\n- ${message}`);
    const path = problems[0]?.path;
    super(`${problems.length} settings are invalid:${lines.join('')}`, path === undefined ? {} : { path });
    this.problems = problems;
  }
}

export class SettingProblems {
  private readonly errors: LLMInvalidRequestError[] = [];

  /** @param path `settings.ai.admins`, or a variable's name */
  add(path: string, message: string): void {
    this.errors.push(new LLMInvalidRequestError(message, { path }));
  }

  has(path: string): boolean {
    return this.errors.some((error) => error.path === path);
  }

  /** @returns undefined if `read` throws an LLMInvalidRequestError, which is added */
  attempt<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof LLMInvalidRequestError)) throw error;
      this.errors.push(...(error instanceof InvalidSettingsError ? error.problems : [error]));
      return undefined;
    }
  }

  /** @throws LLMInvalidRequestError with one line for each problem */
  throwIfAny(): void {
    const [first, ...others] = this.errors;
    if (first === undefined) return;
    if (others.length === 0) throw first;
    throw new InvalidSettingsError(this.errors);
  }
}
