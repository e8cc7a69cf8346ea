/** Writes an answer that another process is giving, as its events arrive. Its end is written by whoever reads it. */
import type { AnswerOutput } from '../../../domain/interfaces/OutputChannel';
import type { RunStore } from '../../../domain/interfaces/RunStore';
import type { AgentEvent } from '../../../domain/types/AgentEvents';
import { answerText } from './answerText';
import { AnswerWriter, TURN_SEPARATOR } from './AnswerWriter';

export interface LiveAnswerPorts {
  readonly live: {
    /** @param listener receives the events after `recent` */
    follow(
      executionId: string,
      listener: (event: AgentEvent) => void,
    ): { readonly recent: readonly AgentEvent[]; readonly unsubscribe: () => void };
  };
  readonly runs: Pick<RunStore, 'load'>;
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
  /** The text of a model call that another process repeats, until it has caught up. */
  private repeated: string | undefined;
  private isStopped = false;

  /** @param executionId the id of the message, too */
  constructor(executionId: string, output: AnswerOutput, { live, runs }: LiveAnswerPorts) {
    this.writer = new AnswerWriter(output);
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
      this.writer.complete(answerText(stored.run));
      this.writer.nextTurn();
      this.before = this.writer.text;
    }
    const waiting = this.waiting ?? [];
    this.waiting = undefined;
    for (const event of waiting) this.take(event);
  }

  private take(event: AgentEvent): void {
    if (this.isStopped) return;
    if (this.waiting !== undefined) this.waiting.push(event);
    else if (event.type === 'iteration:start') this.beginTurn(event.iteration);
    else if (event.type === 'llm:delta' && event.kind === 'text' && this.iteration > this.responded)
      this.add(event.delta);
  }

  private beginTurn(iteration: number): void {
    if (iteration <= this.responded) return;
    // Without the text of the calls between, the answer can only be shown once it is complete.
    if (iteration > this.iteration + 1) {
      this.stop();
      return;
    }
    if (iteration === this.iteration) {
      // The process has died, and another one makes the call again.
      if (this.writer.text !== this.before) this.repeated = '';
      return;
    }
    this.iteration = iteration;
    this.repeated = undefined;
    this.writer.nextTurn();
    this.before = this.writer.text;
  }

  private add(delta: string): void {
    if (this.repeated === undefined) {
      this.writer.add(delta);
      return;
    }
    this.repeated += delta;
    const text = this.before === '' ? this.repeated : this.before + TURN_SEPARATOR + this.repeated;
    if (this.writer.text.startsWith(text)) return;
    // Voids the beginning if it is another one now.
    this.writer.complete(text);
    this.repeated = undefined;
  }
}
