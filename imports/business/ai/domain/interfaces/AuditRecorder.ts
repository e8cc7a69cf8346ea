/** Port to the audit trail, for what acts: who did what, and how it ended. */
import type { Actor } from '../types/Actor';
import type { AuditAct } from '../types/AuditEntries';

export type AuditActor = Pick<Actor, 'userId' | 'source' | 'tokenId' | 'client'>;

export interface ActOptions<R> {
  /** It stops or withdraws something, so it goes on if it cannot be recorded. */
  readonly isSafe?: boolean | undefined;
  /** The id of what was created. */
  readonly idOf?: ((result: R) => string | undefined) | undefined;
}

export interface AuditRecorder {
  /**
   * Records an act, carries it out and records its outcome. Of callers who have failed very often within the hour, only
   * what succeeds is recorded from then on.
   * @throws what `run` throws; LLMOverloadedError if the act cannot be recorded
   */
  carryOut<R>(actor: AuditActor, act: AuditAct, run: () => Promise<R>, options?: ActOptions<R>): Promise<R>;
  /** Records what has been done. @throws LLMOverloadedError unless it is safe */
  record(actor: AuditActor, act: AuditAct, options?: Pick<ActOptions<unknown>, 'isSafe'>): Promise<void>;
  /**
   * Records that a caller was refused, within bounds, and without making the caller wait.
   * @param key whose reports are counted together
   */
  report(actor: AuditActor, act: AuditAct, error: string, key: string): void;
}
