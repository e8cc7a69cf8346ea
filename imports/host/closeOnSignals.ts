/**
 * Closes a host when the process is asked to stop, so that its runs move to another process at once. Deployments send
 * SIGTERM, and so does `meteor run` before it starts the changed app; a terminal sends SIGINT.
 */
import { constants } from 'node:os';
import type { Logger } from '../business/ai/domain/interfaces/Logger';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;
type Signal = (typeof SIGNALS)[number];

/** The part of `process` that is used. */
export interface SignalledProcess {
  on(signal: Signal, listener: (signal: Signal) => void): unknown;
  off(signal: Signal, listener: (signal: Signal) => void): unknown;
  listenerCount(signal: Signal): number;
  exit(code: number): void;
}

export interface CloseOnSignalsOptions {
  /** @param hurry fires when nothing in progress is to be awaited any more */
  readonly close: (hurry: AbortSignal) => Promise<void>;
  /** Milliseconds that `close` may wait for what is in progress. */
  readonly graceMs: number;
  /** Default: this process. */
  readonly process?: SignalledProcess;
  /** Default: the console. */
  readonly logger?: Pick<Logger, 'warn' | 'error'>;
}

/** Milliseconds after the grace within which runs are handed over and pending writes completed. */
export const CLOSE_TIMEOUT_MS = 5_000;

/**
 * The process exits with 0 as soon as the host is closed, and with 1 if that takes longer than the grace and
 * `CLOSE_TIMEOUT_MS`. If the app listens to the signal too, it decides when the process exits, at the latest after that
 * time. The same signal again ends the grace, and a third time the process.
 * @returns stops listening
 */
export function closeOnSignals(options: CloseOnSignalsOptions): () => void {
  const { close, graceMs, process: target = process, logger = console } = options;
  const hurry = new AbortController();
  let received: Signal | undefined;
  let code = 1;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const exitAfter = (ms: number): void => {
    clearTimeout(timer);
    timer = setTimeout(() => target.exit(code), ms);
  };

  const begin = (signal: Signal): void => {
    const hasOtherListeners = target.listenerCount(signal) > 1;
    exitAfter(graceMs + CLOSE_TIMEOUT_MS);
    const exit = (): void => {
      if (hasOtherListeners) return;
      clearTimeout(timer);
      target.exit(code);
    };
    close(hurry.signal).then(
      () => {
        code = 0;
        exit();
      },
      (error: unknown) => {
        logger.error('Bolide could not be closed. Its runs continue elsewhere when their leases expire.', error);
        exit();
      },
    );
  };

  const onSignal = (signal: Signal): void => {
    if (received === undefined) {
      received = signal;
      begin(signal);
      return;
    }
    // `meteor run` sends SIGTERM right after the terminal's SIGINT: only a repeated signal is impatience.
    if (received !== signal) return;
    if (hurry.signal.aborted) {
      target.exit(128 + constants.signals[signal]);
      return;
    }
    hurry.abort();
    exitAfter(CLOSE_TIMEOUT_MS);
  };

  for (const signal of SIGNALS) target.on(signal, onSignal);
  return () => {
    for (const signal of SIGNALS) target.off(signal, onSignal);
  };
}
