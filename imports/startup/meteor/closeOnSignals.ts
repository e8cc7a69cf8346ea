/**
 * Closes the host when the process is asked to stop, so that its runs move to another process at once. Deployments send
 * SIGTERM, and so does `meteor run` before it starts the changed app; a terminal sends SIGINT.
 */
import { constants } from 'node:os';
import type { Logger } from '../../business/ai/domain/interfaces/Logger';

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
  readonly close: () => Promise<void>;
  /** Milliseconds after which the process exits, closed or not. */
  readonly timeoutMs: number;
  /** Default: this process. */
  readonly process?: SignalledProcess;
  /** Default: the console. */
  readonly logger?: Pick<Logger, 'warn' | 'error'>;
}

/**
 * The process exits as soon as the host is closed. If the app listens to the signal too, it decides when the process
 * exits, at the latest after the timeout. The same signal again exits at once.
 * @returns stops listening
 */
export function closeOnSignals(options: CloseOnSignalsOptions): () => void {
  const { close, timeoutMs, process: target = process, logger = console } = options;
  let received: Signal | undefined;

  const onSignal = (signal: Signal): void => {
    // `meteor run` sends SIGTERM right after the terminal's SIGINT: only a repeated signal is impatience.
    if (received !== undefined) {
      if (received === signal) target.exit(128 + constants.signals[signal]);
      return;
    }
    received = signal;
    const hasOtherListeners = target.listenerCount(signal) > 1;
    let code = 1;
    const timer = setTimeout(() => {
      target.exit(code);
    }, timeoutMs);
    const exit = (): void => {
      if (hasOtherListeners) return;
      clearTimeout(timer);
      target.exit(code);
    };
    close().then(
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

  for (const signal of SIGNALS) target.on(signal, onSignal);
  return () => {
    for (const signal of SIGNALS) target.off(signal, onSignal);
  };
}
