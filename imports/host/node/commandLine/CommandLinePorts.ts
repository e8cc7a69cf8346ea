/** What the command line reads and starts. */
export interface CommandLinePorts {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly print: (line: string) => void;
  readonly printError: (line: string) => void;
  readonly now: () => Date;
  /** Starts the server, which a signal ends. */
  readonly serve: () => Promise<void>;
  readonly serveMcp: () => Promise<void>;
}
