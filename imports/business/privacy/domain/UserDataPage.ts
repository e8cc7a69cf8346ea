/** A part of everything that is stored about a user. */
export interface UserDataPage {
  /** Each is a JSON object `{ kind, collection, data }` in one line. */
  readonly lines: readonly string[];
  /** Opaque. Absent on the last page. */
  readonly next?: string;
}
