/** The text of one answer on its way out: as it comes, with a blank line between the model's turns. */
import type { AnswerOutput } from '../../../domain/interfaces/OutputChannel';

const BETWEEN_TURNS = '\n\n';

export class AnswerWriter {
  private readonly output: AnswerOutput;
  private text = '';
  private turnHasText = false;

  constructor(output: AnswerOutput) {
    this.output = output;
  }

  add(delta: string): void {
    if (delta === '') return;
    const piece = !this.turnHasText && this.text !== '' ? BETWEEN_TURNS + delta : delta;
    this.turnHasText = true;
    this.text += piece;
    this.output.send(piece);
  }

  /** What the model said before its tools ran is part of the answer. */
  nextTurn(): void {
    this.turnHasText = false;
  }

  /**
   * @param last the text of the last turn, which a provider that doesn't stream tells only now
   * @returns everything that was sent
   */
  finish(last: string): string {
    if (!this.turnHasText) this.add(last);
    return this.text;
  }
}
