/** Streams the text of one answer, with a blank line between the model's turns. */
import type { AnswerOutput } from '../../../domain/interfaces/OutputChannel';

const TURN_SEPARATOR = '\n\n';

export class AnswerWriter {
  private readonly output: AnswerOutput;
  private text = '';
  private turnHasText = false;

  constructor(output: AnswerOutput) {
    this.output = output;
  }

  add(delta: string): void {
    if (delta === '') return;
    const piece = !this.turnHasText && this.text !== '' ? TURN_SEPARATOR + delta : delta;
    this.turnHasText = true;
    this.text += piece;
    this.output.send(piece);
  }

  /** Starts the model's next turn. Text from before its tools ran is part of the answer. */
  nextTurn(): void {
    this.turnHasText = false;
  }

  /**
   * @param last the text of the last turn, for providers that don't stream
   * @returns the entire text that was sent
   */
  finish(last: string): string {
    if (!this.turnHasText) this.add(last);
    return this.text;
  }
}
