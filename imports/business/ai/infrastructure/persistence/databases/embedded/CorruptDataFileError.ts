/** A data file contains something that this program did not write, or was damaged later. */
import { StoreError } from '../databaseErrors';

/** So many lines are named. */
const MAX_NAMED = 10;

export class CorruptDataFileError extends StoreError {
  readonly file: string;
  /** Counted from 1; empty if no line of the file can be named. */
  readonly lines: readonly number[];

  /** @param problem of a file without damaged lines: `is missing` */
  constructor(file: string, lines: readonly number[], problem = 'is damaged', cause?: unknown) {
    super(
      `${file}${placeOf(lines)} ${problem}. Nothing was changed. Restore a backup, or see what can be repaired: ` +
        `\`npx bolide data check\`, or \`npm run data -- check\` in a checkout.`,
      cause === undefined ? {} : { cause },
    );
    this.file = file;
    this.lines = lines;
  }

  /** The first of its damaged lines. */
  get line(): number | undefined {
    return this.lines[0];
  }
}

function placeOf(lines: readonly number[]): string {
  if (lines.length === 0) return '';
  const rest = lines.length - MAX_NAMED;
  const named = lines.slice(0, MAX_NAMED).join(', ');
  return `, line${lines.length === 1 ? '' : 's'} ${named}${rest > 0 ? ` and ${rest} more` : ''},`;
}
