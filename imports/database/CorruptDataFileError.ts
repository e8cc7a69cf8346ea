/** A data file contains something that this program did not write, or was damaged later. */
import { StoreError } from './databaseErrors';

export interface CorruptionDetails {
  /** What to do, as a sentence. */
  readonly remedy?: string;
  readonly cause?: unknown;
}

const REPAIR =
  'Restore a backup, or see what can be repaired: `npx bolide data check`, or `npm run data -- check` in a checkout.';

export class CorruptDataFileError extends StoreError {
  readonly file: string;
  /** `is damaged` */
  readonly problem: string;

  constructor(file: string, problem: string, { remedy = REPAIR, ...details }: CorruptionDetails = {}) {
    super(`${file} ${problem}. Nothing was changed. ${remedy}`, details);
    this.file = file;
    this.problem = problem;
  }
}
