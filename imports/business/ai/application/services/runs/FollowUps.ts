/**
 * The answers that follow a run's first one, as an async iterable. It buffers answers until they are read; without a
 * reader, an error is dropped.
 */
import type { LLMError } from '../../../domain/errors/LLMErrors';
import type { LLMResponse } from '../../../domain/types/ResponsesAPITypes';

export class FollowUps implements AsyncIterable<LLMResponse> {
  private readonly answers: LLMResponse[] = [];
  private end: { readonly error?: LLMError } | undefined;
  private waitingReaders: (() => void)[] = [];

  push(answer: LLMResponse): void {
    this.answers.push(answer);
    this.wakeReaders();
  }

  close(error?: LLMError): void {
    this.end ??= error === undefined ? {} : { error };
    this.wakeReaders();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<LLMResponse> {
    for (let next = 0; ;) {
      const answer = this.answers[next];
      if (answer !== undefined) {
        next += 1;
        yield answer;
      } else if (this.end !== undefined) {
        if (this.end.error !== undefined) throw this.end.error;
        return;
      } else {
        await new Promise<void>((resolve) => this.waitingReaders.push(resolve));
      }
    }
  }

  /** Leaves it out of JSON. The error that ended the run is in it, and has the run itself. */
  toJSON(): undefined {
    return undefined;
  }

  private wakeReaders(): void {
    const readers = this.waitingReaders;
    this.waitingReaders = [];
    for (const wake of readers) wake();
  }
}
