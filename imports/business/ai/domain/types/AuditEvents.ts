/** Audit events for operators about the use of providers. What happens within a run is reported by agent events. */
import type { ErrorCode } from '../errors/LLMErrors';
import type { RunState } from '../entities/Run';
import type { Actor } from './Actor';
import type { Usage } from './ResponsesAPITypes';

interface UseNamed {
  readonly userId: string;
  readonly source: Actor['source'];
  readonly requestId: string;
  readonly providerId: string;
}

export type AuditEvent =
  | (UseNamed & { readonly type: 'use:refused'; readonly code: ErrorCode })
  | (UseNamed & { readonly type: 'use:started'; readonly executionId: string })
  | (UseNamed & {
      readonly type: 'use:ended';
      readonly executionId: string;
      readonly state: RunState;
      readonly usage: Usage;
    });
