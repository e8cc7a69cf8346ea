/** What of an operation is in the audit trail. */
import type { AuditAction, AuditSubjectKind } from '../business/ai/domain/types/AuditEntries';
import type { JsonObject } from '../business/ai/domain/types/VendorTypes';

/** The argument that a rule reads is untrusted, and has not been checked yet. */
export interface AuditRule {
  readonly action: AuditAction;
  readonly kind: AuditSubjectKind;
  /** The argument's field with the subject's id, or computes it. */
  readonly id?: string | ((argument: JsonObject) => string | undefined);
  /** The result's field with the id of what was created. */
  readonly createdId?: string;
  /**
   * Whose the subject is: the actor's; the owner's of the run or provider that the argument names; or the user's in
   * that field of the argument, without whom it may be the actor's.
   */
  readonly owner?: 'actor' | 'run' | 'provider' | { readonly field: string; readonly orActor?: true };
  /** Fields of the argument whose names are recorded if they are given, but not their values. */
  readonly changed?: readonly string[];
  /** Fields of the argument that are recorded: short texts, numbers and lists of texts. Never secrets. */
  readonly details?: readonly string[];
  /** Recorded only if the subject belongs to somebody else. */
  readonly isOfOthersOnly?: true;
  /** Set if results come in pages: only the first page is recorded, whose call has no `after`. */
  readonly isPaged?: true;
  /** It stops or withdraws something, so it goes on if it cannot be recorded. */
  readonly isSafe?: true;
}

/** Why a command has no entry: it is in the list of runs and in the request log, or recorded when the flow ends. */
export type AuditExemption = 'call' | 'flow';
