/** A progress bar: one line that is redrawn on a terminal, or one line per quarter in a log. */
import { clearLine, cursorTo } from 'node:readline';
import type { WriteStream } from 'node:tty';

const WIDTH = 30;

export class ProgressBar {
  private readonly output: WriteStream;
  private readonly startedAt = performance.now();
  private quarters = 0;

  constructor(output: WriteStream = process.stderr) {
    this.output = output;
  }

  update(done: number, total: number): void {
    if (this.output.isTTY) {
      cursorTo(this.output, 0);
      this.output.write(this.line(done, total));
      clearLine(this.output, 1);
      if (done === total) this.output.write('\n');
      return;
    }
    const quarters = Math.floor((done / total) * 4);
    if (quarters > this.quarters) this.output.write(`${this.line(done, total)}\n`);
    this.quarters = quarters;
  }

  private line(done: number, total: number): string {
    const filled = Math.round((done / total) * WIDTH);
    const elapsed = (performance.now() - this.startedAt) / 1_000;
    const time =
      done === total ? `${elapsed.toFixed(1)} s` : `${((elapsed / done) * (total - done)).toFixed(1)} s remaining`;
    return `[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${done}/${total}, ${time}`;
  }
}
