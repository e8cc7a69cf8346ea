/** Collects what is wrong with settings, so that one error names all of it. */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';

/** One or more settings are invalid. Printed, it is its message alone, without a stack. */
class InvalidSettingsError extends LLMInvalidRequestError {
  readonly problems: readonly LLMInvalidRequestError[];

  constructor(problems: readonly [LLMInvalidRequestError, ...LLMInvalidRequestError[]]) {
    const [{ message, path }] = problems;
    const lines = problems.map((problem) => `\n- ${problem.message}`);
    super(
      problems.length === 1 ? message : `${problems.length} settings are invalid:${lines.join('')}`,
      path === undefined ? {} : { path },
    );
    this.problems = problems;
    // Node and Meteor print the stack of an error that ends the process, and its enumerable fields.
    this.stack = `${this.name}: ${this.message}`;
    for (const field of Object.keys(this)) Object.defineProperty(this, field, { enumerable: false });
  }
}

export class SettingProblems {
  private readonly errors: LLMInvalidRequestError[] = [];

  /** @param name `Meteor.settings.ai.admins`, or a variable */
  add(name: string, message: string): void {
    this.errors.push(invalidSetting(name, message));
  }

  /** @param field of `Meteor.settings.ai`, with which the sentence begins */
  addField(field: string, sentence: string): void {
    this.add(`Meteor.settings.ai.${field}`, `Meteor.settings.ai.${field} ${sentence}`);
  }

  has(name: string): boolean {
    return this.errors.some(({ path = '' }) => pathOf(path) === pathOf(name));
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
    if (first !== undefined) throw new InvalidSettingsError([first, ...others]);
  }
}

/** @param name `Meteor.settings.ai.admins`, or a variable */
export function invalidSetting(name: string, message: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(message, { path: pathOf(name) });
}

function pathOf(name: string): string {
  return name.replace(/^Meteor[.]/, '');
}
