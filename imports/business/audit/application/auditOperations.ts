/** `ai.audit.*`: the audit trail. Users see what they did themselves, admins what everyone did. */
import * as v from 'valibot';
import { defineOperation } from '../../../host/defineOperation';
import { boolean, identifier, integer, line, listOrOne, object, oneOf, text, time } from '../../../host/schemas';
import type { AuditFilter, AuditReader } from '../domain/AuditStore';
import type { Actor, UserSearch } from '../../ai/domain/types/Actor';
import { AUDIT_ACTIONS, AUDIT_CHANNELS, AUDIT_OUTCOMES, AUDIT_SUBJECTS } from '../../ai/domain/types/AuditEntries';
import type { AuditEntry } from '../../ai/domain/types/AuditEntries';
import { assertOwn } from '../../ai/application/operations/assertOwn';
import { searchedUsers } from '../../ai/application/operations/searchedUsers';
import { ARGUMENT_LIMITS } from '../../ai/application/operations/readArguments';

export interface AuditServices {
  readonly auditEntries: AuditReader;
  /** Default: no user is found by name. */
  readonly searchAuditedUsers?: UserSearch | undefined;
}

const LIMITS = { page: 200, defaultPage: 50, search: 200, after: 2_000, subjectId: 300 } as const;

const filter = {
  userId: v.optional(line(ARGUMENT_LIMITS.id)),
  tokenId: v.optional(identifier(ARGUMENT_LIMITS.id)),
  action: v.optional(listOrOne(AUDIT_ACTIONS)),
  kind: v.optional(oneOf(AUDIT_SUBJECTS)),
  subjectId: v.optional(line(LIMITS.subjectId)),
  via: v.optional(oneOf(AUDIT_CHANNELS)),
  outcome: v.optional(listOrOne(AUDIT_OUTCOMES)),
  search: v.optional(text(LIMITS.search)),
  from: v.optional(time),
  to: v.optional(time),
};

const entry = v.looseObject({
  _id: v.string(),
  at: v.number(),
  userId: v.string(),
  action: v.picklist(AUDIT_ACTIONS),
  subject: v.looseObject({ kind: v.picklist(AUDIT_SUBJECTS), id: v.optional(v.string()) }),
  via: v.picklist(AUDIT_CHANNELS),
  outcome: v.picklist(AUDIT_OUTCOMES),
});

export const AUDIT_OPERATIONS = [
  defineOperation({
    name: 'ai.audit.list',
    summary: 'List what was done, by whom and from where',
    description:
      'Fields of the [audit trail](methods-and-publications.md#the-audit-trail). For administrators, `search` is also the ' +
      'beginning of the name or the e-mail address of a user, who acted or was acted upon.',
    access: 'read',
    argument: object({
      ...filter,
      order: v.optional(oneOf(['asc', 'desc']), 'desc'),
      limit: v.optional(integer(1, LIMITS.page), LIMITS.defaultPage),
      after: v.optional(text(LIMITS.after)),
      count: v.optional(boolean),
    }),
    result: v.looseObject({
      entries: v.array(entry),
      total: v.optional(v.number()),
      next: v.optional(v.string()),
    }),
    http: 'GET /api/audit',
    reads: ['audit'],
    execute: async (
      { auditEntries, searchAuditedUsers }: AuditServices,
      { actor, argument: { action: actions, outcome: outcomes, order, limit, after, count, ...others } },
    ) => {
      const permitted = permittedFilter(actor, { ...others, actions, outcomes });
      const found = await searchedUsers(actor, permitted.search, searchAuditedUsers);
      const page = await auditEntries.page({ ...permitted, searchedUsers: found }, { order, limit, after, count });
      if (actor.isAdmin === true) return page;
      return { ...page, entries: page.entries.map((each) => withoutOwner(each, actor)) };
    },
  }),
] as const;

/** Whose a run is that somebody was refused, and thus that it exists, is none of their business. */
function withoutOwner(recorded: AuditEntry, { userId }: Actor): AuditEntry {
  const { ownerId, ...subject } = recorded.subject;
  return ownerId === undefined || ownerId === userId ? recorded : { ...recorded, subject };
}

/** @throws LLMPermissionError for a user who asks for the acts of another */
function permittedFilter(actor: Actor, asked: AuditFilter): AuditFilter {
  assertOwn(actor, asked.userId, 'audit trail');
  return actor.isAdmin === true ? asked : { ...asked, userId: actor.userId };
}
