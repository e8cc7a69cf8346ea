/** Where the lines of the default logger go: to the console, unless the program has set up something else. */

/** What a line belongs to, as far as it is known. */
export interface LogIds {
  /** The id of the HTTP request. */
  readonly request?: string;
  /** The execution id of the run. */
  readonly run?: string;
  /** The id of the tool call. */
  readonly call?: string;
}

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  /** Causes with their stacks, and fields. */
  readonly details: readonly unknown[];
}

export type LogWriter = (line: LogLine) => void;

let current: LogWriter | undefined;

/** Undefined: the console. */
export function currentLogWriter(): LogWriter | undefined {
  return current;
}

/**
 * Sends the lines of this process elsewhere.
 * @returns restores what was there before
 */
export function setLogWriter(writer: LogWriter): () => void {
  const before = current;
  current = writer;
  return () => {
    current = before;
  };
}

let idSource: () => LogIds | undefined = () => undefined;

/** Returns the ids of what is being done. Undefined: none is known. */
export function currentLogIds(): LogIds | undefined {
  return idSource();
}

/** @param source knows what is being done, which takes the means of a runtime */
export function setLogIdSource(source: () => LogIds | undefined): void {
  idSource = source;
}
