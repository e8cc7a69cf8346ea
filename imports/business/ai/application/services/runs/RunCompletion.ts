/** The promises that a run settles: one when it ends and, for runs that return early, one at its first answer. */
import type { RunResult } from '../../../domain/entities/Run';
import type { LLMError } from '../../../domain/errors/LLMErrors';

interface Deferred {
  readonly resolve: (result: RunResult) => void;
  readonly reject: (error: LLMError) => void;
}

export class RunCompletion {
  /** Settles when the run ends, with its last answer or its error. */
  readonly ended: Promise<RunResult>;
  /** Settles with the first answer of a run that returns early. Undefined after that, and for other runs. */
  private first: Promise<RunResult> | undefined;
  private end: Deferred | undefined;
  private firstAnswer: Deferred | undefined;

  constructor(returnsEarly: boolean) {
    this.ended = new Promise((resolve, reject) => {
      this.end = { resolve, reject };
    });
    if (!returnsEarly) return;
    this.first = new Promise((resolve, reject) => {
      this.firstAnswer = { resolve, reject };
    });
    // What follows the first answer is reported by events and `followUps`.
    this.ended.catch(() => undefined);
  }

  /** Settles with the run, or with the first answer of a run that returns early; not retained after that. */
  get returned(): Promise<RunResult> {
    return this.first ?? this.ended;
  }

  /** Resolves `returned`. @returns false if it has resolved before, or the run does not return early */
  answer(result: () => RunResult): boolean {
    if (this.firstAnswer === undefined) return false;
    this.firstAnswer.resolve(result());
    this.firstAnswer = undefined;
    this.first = undefined;
    return true;
  }

  resolve(result: RunResult): void {
    this.end?.resolve(result);
    this.firstAnswer?.resolve(result);
  }

  reject(error: LLMError): void {
    this.end?.reject(error);
    this.firstAnswer?.reject(error);
  }
}
