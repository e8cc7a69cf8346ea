/** Waits for the signal of one call. Everything that can end the wait is looked at here, one after the other. */
import type { RunSignal } from '../../../../domain/interfaces/RunSignalStore';
import type { ExternalResult } from '../decisions';
import type { ToolCallOutcome } from '../ToolCallOutcome';
import { throughOutages } from '../../shared/throughOutages';
import type { DueTimes } from '../../shared/DueTimes';
import type { RunSignals } from './RunSignals';

export interface AwaitedSignal {
  readonly signals: RunSignals;
  readonly dueTimes: DueTimes;
  readonly executionId: string;
  readonly callId: string;
  readonly name: string;
  /** When the wait ends, in milliseconds since the epoch. */
  readonly expiresAt: number;
  /** A result that is submitted for the call ends the wait, too. */
  readonly submitted: Promise<ExternalResult>;
}

/** @returns `expired` if none arrived in time; undefined if the call has settled meanwhile */
export async function awaitSignal(
  { signals, dueTimes, executionId, callId, name, expiresAt, submitted }: AwaitedSignal,
  outcome: ToolCallOutcome,
): Promise<RunSignal | ExternalResult | 'expired' | undefined> {
  let result: ExternalResult | undefined;
  const submittedResult = (): ExternalResult | undefined => result;
  let wake = (): void => undefined;
  const onChange = (): void => wake();
  void submitted.then((given) => {
    result = given;
    wake();
  });
  outcome.onSettled(onChange);
  const stopListening = signals.listen(executionId, onChange);
  const due = dueTimes.add(expiresAt, { onDue: onChange });
  try {
    while (outcome.isOpen()) {
      const changed = new Promise<void>((resolve) => (wake = resolve));
      const before = submittedResult();
      if (before !== undefined) return before;
      const isLate = Date.now() >= expiresAt;
      const signal = await throughOutages(
        () => signals.take(executionId, name, callId),
        () => outcome.isOpen(),
      );
      if (!outcome.isOpen()) return undefined;
      const after = submittedResult();
      if (after !== undefined) return after;
      if (signal !== undefined) return signal;
      if (isLate) return 'expired';
      await changed;
    }
    return undefined;
  } finally {
    stopListening();
    due.cancel();
  }
}
