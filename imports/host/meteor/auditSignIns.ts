/** Records in the audit trail who signs in to the app, fails to, and signs out. */
import type { AuditRecorder } from '../../business/ai/domain/interfaces/AuditRecorder';
import { fieldsOf } from '../../business/ai/domain/util/json';
import { actorClient } from '../../business/ai/domain/types/ActorClient';
import type { ActorClient } from '../../business/ai/domain/types/ActorClient';
import type { MeteorAccounts } from './MeteorPackages';

const SIGN_IN = { action: 'session.open', subject: { kind: 'session' } } as const;
const SIGN_OUT = { action: 'session.close', subject: { kind: 'session' } } as const;
const IS_DONE = { isSafe: true } as const;

/** @returns stops recording */
export function auditSignIns(
  Accounts: Pick<MeteorAccounts, 'onLogin' | 'onLoginFailure' | 'onLogout'>,
  trail: Pick<AuditRecorder, 'record' | 'report'>,
): () => void {
  const handles = [
    Accounts.onLogin?.((async (attempt: unknown) => {
      const userId = userIdIn(attempt);
      if (isResumption(attempt) || userId === undefined) return;
      await trail.record({ userId, source: 'method', client: clientIn(attempt) }, SIGN_IN, IS_DONE);
    }) as never),
    Accounts.onLoginFailure?.(((attempt: unknown) => {
      if (isResumption(attempt)) return;
      const [client, ownerId] = [clientIn(attempt), userIdIn(attempt)];
      // Whom somebody tried to be, if there is such a user. The arguments of the attempt hold the password.
      const act = ownerId === undefined ? SIGN_IN : { ...SIGN_IN, subject: { ...SIGN_IN.subject, ownerId } };
      trail.report({ userId: '', source: 'method', client }, act, 'auth-failed', client.address ?? '');
    }) as never),
    Accounts.onLogout?.((async (left: unknown) => {
      const userId = userIdIn(left);
      if (userId === undefined) return;
      await trail.record({ userId, source: 'method', client: clientIn(left) }, SIGN_OUT, IS_DONE);
    }) as never),
  ];
  return () => {
    // Boundary: some published types leave out what the functions return, and old versions return nothing.
    for (const handle of handles as readonly ({ stop?(): void } | undefined)[]) handle?.stop?.();
  };
}

/** Clients log in with a stored token whenever they connect again. */
function isResumption(attempt: unknown): boolean {
  return fieldsOf(attempt)['type'] === 'resume';
}

function userIdIn(attempt: unknown): string | undefined {
  const { _id } = fieldsOf(fieldsOf(attempt)['user']);
  return typeof _id === 'string' ? _id : undefined;
}

/** Absent where the app's own code logs somebody in or out. */
function clientIn(attempt: unknown): ActorClient {
  const { clientAddress, httpHeaders } = fieldsOf(fieldsOf(attempt)['connection']);
  return actorClient(clientAddress, fieldsOf(httpHeaders)['user-agent']);
}
