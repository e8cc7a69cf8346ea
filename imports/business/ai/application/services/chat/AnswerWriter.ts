/** Sends the text of one answer, with a blank line between the model's turns. */
import type { AnswerOutput } from '../../../domain/interfaces/OutputChannel';

export const TURN_SEPARATOR = '\n\n';

export class AnswerWriter {
  private readonly output: AnswerOutput;
  private sent = '';
  private turnHasText = false;

  constructor(output: AnswerOutput) {
    this.output = output;
  }

  /** The entire text that was sent. */
  get text(): string {
    return this.sent;
  }

  add(delta: string): void {
    if (delta === '') return;
    const piece = !this.turnHasText && this.sent !== '' ? TURN_SEPARATOR + delta : delta;
    this.turnHasText = true;
    this.sent += piece;
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
    this.sent = text;
    if (output.complete !== undefined) {
      output.complete(text);
      return;
    }
    const isContinued = text.startsWith(sent);
    if (!isContinued) output.restart?.();
    const rest = isContinued ? text.slice(sent.length) : text;
    if (rest !== '') output.send(rest);
  }
}
