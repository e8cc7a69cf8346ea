/** Entries of the audit trail: who did what, when and from where, and how it ended. */

/** By what an act concerns. The definition of an operation names one as `audit.action`. */
export const AUDIT_ACTIONS = [
  'access.refuse',
  'audit.export',
  'budget.remove',
  'budget.set',
  'call.approve',
  'call.reject',
  'call.submit_result',
  'credentials.rotate',
  'mcp_server.approve',
  'mcp_server.reconnect',
  'mcp_server.remove',
  'mcp_server.save',
  'mcp_server.set_tool',
  'mcp_server.sign_in',
  'mcp_server.sign_out',
  'mcp_server.switch',
  'mcp_server.test',
  'memory.forget',
  'memory.save',
  'prompt.label',
  'prompt.remove',
  'prompt.save',
  'provider.connect',
  'provider.create',
  'provider.disconnect',
  'provider.remove',
  'provider.set_key',
  'provider.set_own_key',
  'provider.update',
  'queue.pause',
  'queue.resume',
  'routing.remove',
  'routing.save',
  'run.cancel',
  'run.dismiss',
  'run.rate',
  'run.resume',
  'run.signal',
  'run.send',
  'run.edit_message',
  'run.withdraw_message',
  'run.start_now',
  'run.remove',
  'run.tag',
  'schedule.pause',
  'schedule.resume',
  'schedule.run',
  'session.close',
  'session.open',
  'token.create',
  'token.revoke',
  'token.rotate',
  'token.update',
  'tool.call',
  'user.delete_data',
  'user.export_data',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

export const AUDIT_SUBJECTS = [
  'audit',
  'budget',
  'call',
  'credentials',
  'mcp_server',
  'memory',
  'prompt',
  'provider',
  'queue',
  'route',
  'routing_rule',
  'run',
  'schedule',
  'session',
  'token',
  'tool',
  'user',
] as const;
export type AuditSubjectKind = (typeof AUDIT_SUBJECTS)[number];

/**
 * `begun`: on record before it began; still so where the process ended before the outcome was known. `refused`: the
 * actor lacks the right, or there is no such thing for them.
 */
export const AUDIT_OUTCOMES = ['begun', 'done', 'refused', 'failed'] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/** `dashboard`: a browser's session over HTTP; `http`: an API token; `method`: Meteor; `server`: the app's own code. */
export const AUDIT_CHANNELS = ['http', 'dashboard', 'method', 'server'] as const;
export type AuditChannel = (typeof AUDIT_CHANNELS)[number];

export interface AuditSubject {
  readonly kind: AuditSubjectKind;
  /** For a call of a tool, the id of its run. */
  readonly id?: string;
  /** The user whose it is, if it belongs to one. */
  readonly ownerId?: string;
}

export type AuditDetails = Readonly<Record<string, string | number | boolean>>;

/** What somebody does. */
export interface AuditAct {
  readonly action: AuditAction;
  readonly subject: AuditSubject;
  /** Names of the fields that change, never their values. */
  readonly changed?: readonly string[];
  /** A few short facts, never secrets. */
  readonly details?: AuditDetails;
}

export interface AuditEntry extends AuditAct {
  readonly _id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Empty for somebody unknown. Of a user whose data was deleted, a pseudonym. */
  readonly userId: string;
  /** The API token that was presented. */
  readonly tokenId?: string;
  readonly via: AuditChannel;
  readonly address?: string;
  readonly userAgent?: string;
  readonly outcome: AuditOutcome;
  /** The code of the error by which it was refused or failed. */
  readonly error?: string;
}
