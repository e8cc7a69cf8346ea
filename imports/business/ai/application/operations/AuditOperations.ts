/** `ai.audit.*` for any transport: the audit trail. Users see what they did themselves, admins what everyone did. */
import {
  boolean,
  identifier,
  integer,
  line,
  listOf,
  oneOf,
  optional,
  optionalValue,
  readObject,
  text,
} from '../../domain/arguments';
import type { AuditFilter, AuditPage, AuditPageRequest, AuditReader } from '../../domain/interfaces/AuditStore';
import { isList } from '../../domain/json';
import type { Actor } from '../../domain/types/Actor';
import type { AuditEntry } from '../../domain/types/AuditEntries';
import { AUDIT_ACTIONS, AUDIT_CHANNELS, AUDIT_OUTCOMES, AUDIT_SUBJECTS } from '../../domain/types/AuditEntries';
import type { Operation } from '../../domain/types/Operation';
import type { JsonObject } from '../../domain/types/VendorTypes';
import { assertOwn } from './assertOwn';
import { ARGUMENT_LIMITS } from './readArguments';
import { signedIn } from './RunOperations';

/** Every operation throws LLMAuthError if nobody is signed in, and LLMInvalidRequestError for invalid arguments. */
export interface AuditOperations {
  /** `{ …filter, order?, limit?, after?, count? }`. Newest first. @throws LLMPermissionError */
  readonly 'ai.audit.list': Operation<AuditPage>;
}

export const AUDIT_FIELDS = [
  'userId',
  'tokenId',
  'action',
  'kind',
  'subjectId',
  'via',
  'outcome',
  'search',
  'from',
  'to',
] as const;
const PAGE_FIELDS = ['order', 'limit', 'after', 'count'] as const;

const LIMITS = { page: 200, defaultPage: 50, search: 200, after: 2_000, subjectId: 300 } as const;
const time = integer(0, Number.MAX_SAFE_INTEGER);

export function createAuditOperations(audit: AuditReader): AuditOperations {
  return {
    async 'ai.audit.list'(actor, argument = {}) {
      signedIn(actor);
      const fields = readObject(argument, [...AUDIT_FIELDS, ...PAGE_FIELDS]);
      const page = await audit.page(permittedFilter(actor, filterOf(fields)), pageOf(fields));
      return actor.isAdmin === true
        ? page
        : { ...page, entries: page.entries.map((entry) => withoutOwner(entry, actor)) };
    },
  };
}

function filterOf(fields: JsonObject): AuditFilter {
  const { search } = fields;
  const actions = listIn(fields, 'action', AUDIT_ACTIONS);
  const outcomes = listIn(fields, 'outcome', AUDIT_OUTCOMES);
  return {
    ...optional(fields, 'userId', line(ARGUMENT_LIMITS.id)),
    ...optional(fields, 'tokenId', identifier(ARGUMENT_LIMITS.id)),
    ...(actions === undefined ? {} : { actions }),
    ...optional(fields, 'kind', oneOf(AUDIT_SUBJECTS)),
    ...optional(fields, 'subjectId', line(LIMITS.subjectId)),
    ...optional(fields, 'via', oneOf(AUDIT_CHANNELS)),
    ...(outcomes === undefined ? {} : { outcomes }),
    ...(search === undefined || search === '' ? {} : { search: text(LIMITS.search)(search, 'search') }),
    ...optional(fields, 'from', time),
    ...optional(fields, 'to', time),
  };
}

/** One value or a list. */
function listIn<T extends string>(fields: JsonObject, name: string, values: readonly T[]): readonly T[] | undefined {
  const given = fields[name];
  return given === undefined ? undefined : listOf(values.length, oneOf(values))(isList(given) ? given : [given], name);
}

function pageOf(fields: JsonObject): AuditPageRequest {
  return {
    order: optionalValue(fields, 'order', oneOf(['asc', 'desc'])) ?? 'desc',
    limit: optionalValue(fields, 'limit', integer(1, LIMITS.page)) ?? LIMITS.defaultPage,
    ...optional(fields, 'after', text(LIMITS.after)),
    ...optional(fields, 'count', boolean),
  };
}

/** Whose a run is that somebody was refused, and thus that it exists, is none of their business. */
function withoutOwner(entry: AuditEntry, { userId }: Actor): AuditEntry {
  const { ownerId, ...subject } = entry.subject;
  return ownerId === undefined || ownerId === userId ? entry : { ...entry, subject };
}

/** @throws LLMPermissionError for a user who asks for the acts of another */
function permittedFilter(actor: Actor, filter: AuditFilter): AuditFilter {
  assertOwn(actor, filter.userId, 'audit trail');
  return actor.isAdmin === true ? filter : { ...filter, userId: actor.userId };
}
