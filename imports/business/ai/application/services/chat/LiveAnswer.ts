/**
 * Writes an answer as the events of its run arrive, in whichever process it is executed. Its end is written by whoever
 * reads it.
 */
import type { AgentEvent } from '../../../domain/types/AgentEvents';
import type { RunRecord } from '../../../domain/types/RunRecords';
import { answerText } from './answerText';
import type { AnswerWriter } from './AnswerWriter';

export interface LiveAnswerPorts {
  readonly live: {
    /** @param listener receives the events after `recent` */
    follow(
      executionId: string,
      listener: (event: AgentEvent) => void,
    ): { readonly recent: readonly AgentEvent[]; readonly unsubscribe: () => void };
  };
  /** The part of a `RunStore` that is read. */
  readonly runs: {
    load(
      executionId: string,
    ): Promise<{ readonly run: Pick<RunRecord, 'input' | 'transcript' | 'iterations' | 'isCalling'> } | undefined>;
  };
}

export class LiveAnswer {
  private readonly writer: AnswerWriter;
  private readonly unsubscribe: () => void;
  /** Until the stored run was read. */
  private waiting: AgentEvent[] | undefined;
  private iteration = 0;
  /** The model calls that the stored run had. */
  private responded = 0;
  /** The text before the present model call. */
  private before = '';
  private isStopped = false;

  /** @param executionId the id of the message, too */
  constructor(executionId: string, writer: AnswerWriter, { live, runs }: LiveAnswerPorts) {
    this.writer = writer;
    const { recent, unsubscribe } = live.follow(executionId, (event) => this.take(event));
    this.unsubscribe = unsubscribe;
    this.waiting = [...recent];
    this.begin(executionId, runs).catch(() => this.stop());
  }

  stop(): void {
    this.isStopped = true;
    this.unsubscribe();
  }

  private async begin(executionId: string, runs: LiveAnswerPorts['runs']): Promise<void> {
    const stored = await runs.load(executionId);
    if (this.isStopped) return;
    if (stored !== undefined) {
      this.responded = stored.run.iterations - (stored.run.isCalling ? 1 : 0);
      this.iteration = this.responded;
      this.before = answerText(stored.run);
    }
    this.writer.resumeAfter(this.before);
    const waiting = this.waiting ?? [];
    this.waiting = undefined;
    for (const event of waiting) this.take(event);
  }

  private take(event: AgentEvent): void {
    if (this.isStopped) return;
    if (this.waiting !== undefined) this.waiting.push(event);
    else if (event.type === 'iteration:start') this.beginTurn(event.iteration);
    else if (event.type === 'llm:delta' && event.kind === 'text' && this.iteration > this.responded)
      this.writer.add(event.delta);
  }

  private beginTurn(iteration: number): void {
    if (iteration <= this.responded) return;
    // Without the text of the calls between, the answer can only be shown once it is complete.
    if (iteration > this.iteration + 1) {
      this.stop();
      return;
    }
    // The process has died, and another one makes the call again.
    if (iteration === this.iteration) this.writer.resumeAfter(this.before);
    else {
      this.iteration = iteration;
      this.writer.nextTurn();
      this.before = this.writer.text;
    }
  }
}
