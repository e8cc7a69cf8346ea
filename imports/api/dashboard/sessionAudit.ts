/** Records who signs in to the dashboard and out, and who fails to. */
import type { IncomingMessage } from 'node:http';
import type { AuditRecorder } from '../../business/ai/domain/interfaces/AuditRecorder';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { AuditDetails } from '../../business/ai/domain/types/AuditEntries';
import { toActor } from '../auth/ApiPrincipal';
import type { ApiPrincipal } from '../auth/ApiPrincipal';
import { clientNetwork } from '../auth/clientNetwork';
import { clientOf } from '../auth/clientOf';

export interface SessionAuditPorts {
  readonly audit?: AuditRecorder;
  /** How many proxies in front of the server append to `x-forwarded-for`. */
  readonly forwardedCount: number;
}

/** What of a sign-in is on record besides who and when. */
export interface SignInFacts {
  /** For a refusal, whom somebody tried to be. */
  readonly userId?: string | undefined;
  readonly details?: AuditDetails;
}

/** @throws LLMOverloadedError if a sign-in cannot be recorded: nobody signs in unnoticed, but anybody can sign out */
export async function recordSession(
  { audit, forwardedCount }: SessionAuditPorts,
  request: IncomingMessage,
  principal: ApiPrincipal,
  action: 'session.open' | 'session.close',
  { details }: Pick<SignInFacts, 'details'> = {},
): Promise<void> {
  const actor = toActor({ ...principal, client: { ...clientOf(request, forwardedCount), hasSession: true } });
  const act = { action, subject: { kind: 'session' }, ...omitUndefined({ details }) } as const;
  await audit?.record(actor, act, { isSafe: action === 'session.close' });
}

/** Failed sign-ins are counted by address, so that nobody fills the audit trail. */
export function reportSignIn(
  { audit, forwardedCount }: SessionAuditPorts,
  request: IncomingMessage,
  { userId, details }: SignInFacts = {},
): void {
  const client = { ...clientOf(request, forwardedCount), hasSession: true } as const;
  const owner = userId === undefined ? {} : { ownerId: userId };
  const act = {
    action: 'session.open',
    subject: { kind: 'session', ...owner },
    ...omitUndefined({ details }),
  } as const;
  audit?.report({ userId: '', source: 'http', client }, act, 'auth-failed', clientNetwork(request, forwardedCount));
}
