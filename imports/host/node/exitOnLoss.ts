/** Ends a program whose database is lost, so that whatever started it can start it again. */
import type { Host } from '../createHost';
import { CLOSE_TIMEOUT_MS } from '../closeOnSignals';
import type { SignalledProcess } from '../closeOnSignals';

export interface HostProgram {
  readonly host: Pick<Host, 'lost'>;
  /** Fails because of the loss, which the host has logged. @param hurry ends the waiting for what is in progress */
  close(hurry: AbortSignal): Promise<void>;
}

/** The process exits with 1 as soon as the program is closed, at the latest after `CLOSE_TIMEOUT_MS`. */
export function exitOnLoss(program: HostProgram, target: Pick<SignalledProcess, 'exit'> = process): void {
  const exit = (): void => target.exit(1);
  void program.host.lost?.then(() => {
    setTimeout(exit, CLOSE_TIMEOUT_MS);
    program.close(AbortSignal.abort()).then(exit, exit);
  });
}
