/** Takes what happens to a run from those who perform its effects. */
import type { RunEvent } from '../../../domain/run/RunEvent';

export interface RunEventTarget {
  dispatch(event: RunEvent): void;
  /** Does it in the run's own async context, which is that of nobody's request. */
  detached<T>(work: () => T): T;
  /** Resolves when everything so far is stored, and the run is this process's. @throws LeaseLostError */
  stored(): Promise<void>;
}
