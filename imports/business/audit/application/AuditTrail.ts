/**
 * The audit trail. An act is on record before it begins, and its outcome before the caller learns it: what cannot be
 * recorded is not done. Acts that only stop or withdraw something go on without an entry, since a person must be able
 * to stop a run, or revoke a stolen token, in any case; the log has what the entry would have said.
 */
import { randomBytes } from 'node:crypto';
import { isLLMError, LLMOverloadedError } from '../../ai/domain/errors/LLMErrors';
import type { AuditEnd, AuditStore } from '../domain/AuditStore';
import type { Logger } from '../../ai/domain/interfaces/Logger';
import type { Actor } from '../../ai/domain/types/Actor';
import type { ActOptions, AuditActor, AuditRecorder } from '../../ai/domain/interfaces/AuditRecorder';
import type { ActorClient } from '../../ai/domain/types/ActorClient';
import type { AuditAct, AuditChannel, AuditEntry } from '../../ai/domain/types/AuditEntries';
import { BoundedReports } from './BoundedReports';
import type { ReportLimits } from './BoundedReports';
import { FailedAttempts } from './FailedAttempts';
import { runDetached } from '../../ai/application/services/shared/runDetached';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';

export interface AuditTrailPorts {
  readonly store: AuditStore;
  readonly logger: Logger;
  /** Called after an entry was written or its outcome set. */
  readonly onChange?: (userId: string) => void;
  /** Limits on entries about callers who were refused before they did anything. */
  readonly reportLimits?: ReportLimits;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Who acts, as far as it is known. */
export class AuditTrail implements AuditRecorder {
  private readonly ports: AuditTrailPorts;
  private readonly now: () => number;
  private readonly failed: FailedAttempts;
  private readonly reports: BoundedReports;
  private readonly pending = new Set<Promise<void>>();
  private count = 0;

  constructor(ports: AuditTrailPorts) {
    this.ports = ports;
    this.now = ports.now ?? Date.now;
    this.failed = new FailedAttempts(this.now);
    this.reports = new BoundedReports(ports.reportLimits, this.now);
  }

  async carryOut<R>(
    actor: AuditActor,
    act: AuditAct,
    run: () => Promise<R>,
    { isSafe = false, idOf }: ActOptions<R> = {},
  ): Promise<R> {
    const caller = `${actor.userId} ${actor.tokenId ?? ''}`;
    const isFlooding = actor.userId !== '' && this.failed.isExceeded(caller);
    const entry = this.entryOf(actor, act, 'begun');
    const isBegun = !isFlooding && (await this.insert(entry, isSafe ? 'log' : NOTHING_DONE));
    let result: R;
    try {
      result = await run();
    } catch (error) {
      this.failed.count(caller);
      if (isBegun) await this.end(entry, endOf(error));
      throw error;
    }
    const subjectId = idOf?.(result);
    const id = subjectId === undefined ? {} : { subjectId };
    if (isBegun) await this.end(entry, { outcome: 'done', ...id });
    else if (isFlooding) await this.insert(doneEntry(entry, subjectId), isSafe ? 'log' : NOT_RECORDED);
    return result;
  }

  async record(
    actor: AuditActor,
    act: AuditAct,
    { isSafe = false }: Pick<ActOptions<unknown>, 'isSafe'> = {},
  ): Promise<void> {
    await this.insert(this.entryOf(actor, act, 'done'), isSafe ? 'log' : NOTHING_DONE);
  }

  report(actor: AuditActor, act: AuditAct, error: string, key: string): void {
    const admitted = this.reports.admit(key);
    if (admitted === 'not-recorded') return;
    const details = { ...act.details, ...(admitted === 'last' ? { furtherAreNotRecorded: true } : {}) };
    const entry: AuditEntry = {
      ...this.entryOf(actor, act, 'refused'),
      error,
      ...(Object.keys(details).length === 0 ? {} : { details }),
    };
    const written = this.insert(entry, 'log').then(() => {
      this.pending.delete(written);
    });
    this.pending.add(written);
  }

  /** Resolves when every report so far is written or given up. */
  async settled(): Promise<void> {
    await Promise.all(this.pending);
  }

  private entryOf(
    { userId, source, tokenId, client = {} }: AuditActor,
    act: AuditAct,
    outcome: 'begun' | 'done' | 'refused',
  ): AuditEntry {
    const { address, userAgent } = client;
    const at = this.now();
    return omitUndefined({
      _id: this.nextId(at),
      at,
      userId,
      tokenId,
      via: channelOf(source, client),
      ...act,
      address,
      userAgent,
      outcome,
    });
  }

  /** Sorts entries of the same millisecond in their order. */
  private nextId(at: number): string {
    this.count = (this.count + 1) % 0x1000000;
    const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0');
    return `${hex(at, 12)}-${hex(this.count, 6)}-${randomBytes(6).toString('hex')}`;
  }

  /**
   * @param onFailure the message of the error that is thrown if it cannot be written, or `log`
   * @returns whether the entry was written
   * @throws LLMOverloadedError
   */
  private async insert(entry: AuditEntry, onFailure: string): Promise<boolean> {
    try {
      // A method's `updated` need not wait for it.
      await runDetached(() => this.ports.store.insert(entry));
    } catch (cause) {
      this.ports.logger.error('An entry of the audit trail could not be written.', { entry, error: cause });
      if (onFailure === 'log') return false;
      throw new LLMOverloadedError(onFailure, { cause, retryable: onFailure === NOTHING_DONE });
    }
    this.ports.onChange?.(entry.userId);
    return true;
  }

  /** It is done and on record, so a failure here must not make it look as if it was not. */
  private async end(entry: AuditEntry, end: AuditEnd): Promise<void> {
    try {
      await runDetached(() => this.ports.store.end(entry._id, end));
    } catch (error) {
      this.ports.logger.error('An outcome could not be written to the audit trail.', { entry, end, error });
      return;
    }
    this.ports.onChange?.(entry.userId);
  }
}

const NOTHING_DONE = 'Nothing was done, because it could not be recorded in the audit trail. Try again.';
const NOT_RECORDED = 'It was done, but could not be recorded in the audit trail.';

function doneEntry(entry: AuditEntry, subjectId: string | undefined): AuditEntry {
  const subject = subjectId === undefined ? entry.subject : { ...entry.subject, id: subjectId };
  return { ...entry, subject, outcome: 'done' };
}

function endOf(error: unknown): AuditEnd {
  if (!isLLMError(error)) return { outcome: 'failed', error: 'unexpected' };
  const { code, httpStatus } = error;
  const isRefused = code === 'permission-denied' || code === 'auth-failed' || httpStatus === 404;
  return { outcome: isRefused ? 'refused' : 'failed', error: httpStatus === 404 ? 'not-found' : code };
}

function channelOf(source: Actor['source'], { hasSession }: ActorClient): AuditChannel {
  if (source === 'method') return 'method';
  if (source === 'http') return hasSession === true ? 'dashboard' : 'http';
  return 'server';
}
