/** Signals in documents. They are removed with their run. */
import type { DocumentCollection, StoredDocument } from '../../../../../database/DocumentCollection';
import { insertNew } from '../../../../../database/insertNew';
import { MAX_SIGNALS } from '../../../domain/interfaces/RunSignalStore';
import type { RunSignal, RunSignalStore } from '../../../domain/interfaces/RunSignalStore';
import { omitUndefined } from '../../../domain/util/omitUndefined';

export const RUN_SIGNALS = 'ai_run_signals';

/** A signal whose `_id` joins the ids of its run and of the signal with a colon. */
export interface SignalDocument extends StoredDocument, RunSignal {
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** The id of the call that it was given to. */
  readonly takenBy?: string;
}

export class DocumentRunSignals implements RunSignalStore {
  private readonly signals: DocumentCollection<SignalDocument>;
  private lastAt = 0;

  constructor(signals: DocumentCollection<SignalDocument>) {
    this.signals = signals;
  }

  /** Safe to call again. */
  async ensureIndexes(): Promise<void> {
    await this.signals.ensureIndex({ executionId: 1, name: 1, createdAt: 1 });
  }

  async add(signal: RunSignal): ReturnType<RunSignalStore['add']> {
    const { executionId, signalId } = signal;
    const _id = `${executionId}:${signalId}`;
    if ((await this.signals.findOne({ _id }, { fields: { name: 1 } })) !== undefined) return 'repeated';
    if ((await this.signals.count({ executionId })) >= MAX_SIGNALS) return 'full';
    // Signals that this process receives one after the other stay in this order.
    this.lastAt = Math.max(Date.now(), this.lastAt + 1);
    return (await insertNew(this.signals, { _id, ...signal, createdAt: this.lastAt })) ? 'accepted' : 'repeated';
  }

  async take(executionId: string, name: string, callId: string): Promise<RunSignal | undefined> {
    const taken = await this.signals.findOne({ executionId, takenBy: callId });
    if (taken !== undefined) return toSignal(taken);
    for (;;) {
      const free = { executionId, name, takenBy: { $exists: false } };
      const [found] = await this.signals.find(free, { sort: { createdAt: 1 }, limit: 1 });
      if (found === undefined) return undefined;
      const isOurs = await this.signals.update({ ...free, _id: found._id }, { $set: { takenBy: callId } });
      if (isOurs === 1) return toSignal(found);
    }
  }

  async untakenAmong(executionIds: readonly string[]): Promise<readonly string[]> {
    const selector = { executionId: { $in: executionIds }, takenBy: { $exists: false } };
    const found = await this.signals.find(selector, { fields: { executionId: 1 } });
    return [...new Set(found.map(({ executionId }) => executionId))];
  }

  async giveBack(executionId: string, callId: string): Promise<void> {
    await this.signals.update({ executionId, takenBy: callId }, { $unset: { takenBy: true } });
  }

  async remove(executionIds: readonly string[]): Promise<void> {
    await this.signals.remove({ executionId: { $in: executionIds } });
  }
}

function toSignal({ signalId, executionId, name, payload }: SignalDocument): RunSignal {
  return omitUndefined({ signalId, executionId, name, payload });
}
