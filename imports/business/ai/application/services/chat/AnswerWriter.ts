/** Sends the text of one answer, with a blank line between the model's turns. */
import type { AnswerOutput } from '../../../domain/interfaces/OutputChannel';

export const TURN_SEPARATOR = '\n\n';

export class AnswerWriter {
  private readonly output: AnswerOutput;
  private written = '';
  /** The longest text that is known to have been sent. The listeners may have more, of another process. */
  private sent = '';
  /** What is written may repeat what was sent. */
  private isBehind = false;
  private turnHasText = false;

  constructor(output: AnswerOutput) {
    this.output = output;
  }

  get text(): string {
    return this.written;
  }

  add(delta: string): void {
    if (delta === '') return;
    const piece = !this.turnHasText && this.written !== '' ? TURN_SEPARATOR + delta : delta;
    this.turnHasText = true;
    this.written += piece;
    if (this.isBehind) {
      this.catchUp();
      return;
    }
    this.sent = this.written;
    this.output.send(piece);
  }

  /** Starts the model's next turn. Text from before its tools ran is part of the answer. */
  nextTurn(): void {
    this.turnHasText = false;
  }

  /** @param last the text of the last turn, for providers that don't stream */
  finish(last: string): void {
    if (!this.turnHasText) this.add(last);
  }

  /** @param text the entire answer, of which another process may have produced another beginning */
  complete(text: string): void {
    const { sent, output } = this;
    this.written = text;
    this.sent = text;
    this.isBehind = false;
    if (output.complete !== undefined) {
      output.complete(text);
      return;
    }
    const isContinued = text.startsWith(sent);
    if (!isContinued) output.restart?.();
    const rest = isContinued ? text.slice(sent.length) : text;
    if (rest !== '') output.send(rest);
  }

  /**
   * Goes on after that beginning with a turn, which may have been sent before: the process that wrote it has died, and
   * another one calls the model again. What is the same is not sent again.
   */
  resumeAfter(beginning: string): void {
    this.written = beginning;
    this.turnHasText = false;
    this.isBehind = true;
    this.catchUp();
  }

  private catchUp(): void {
    const { written, sent, output } = this;
    const isSame = written.startsWith(sent) || sent.startsWith(written);
    if (isSame && written.length < sent.length) return;
    if (!isSame || output.catchUp === undefined) this.complete(written);
    else if (output.catchUp(written)) {
      this.sent = written;
      this.isBehind = false;
    }
  }
}
