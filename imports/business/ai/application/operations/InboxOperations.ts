/** `ai.inbox.*` for any transport: what waits for people and other services. Users see their own, admins everyone's. */
import { identifier, integer, oneOf, optionalValue, readObject, required, text } from '../../domain/arguments';
import { ConflictError, LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { InboxFilter, InboxPosition, InboxRange, InboxReader } from '../../domain/interfaces/InboxReader';
import type { Actor } from '../../domain/types/Actor';
import type { CompleteCallView, InboxCounts, InboxEntry, InboxKind, InboxPage } from '../../domain/types/InboxViews';
import { ARGUMENT_LIMITS } from './readArguments';
import { canAccess, signedIn, UnknownRunError } from './RunOperations';

export interface InboxPorts {
  readonly inbox: InboxReader;
  /** The user id of the run's owner, or undefined for an unknown run. */
  readonly ownerOf: (executionId: string) => Promise<string | undefined>;
  /** Called after a failed run was dismissed. */
  readonly onDismissed?: (executionId: string, ownerId: string) => void;
}

/** Every operation throws LLMAuthError if nobody is logged in, and LLMInvalidRequestError for invalid arguments. */
export interface InboxOperations {
  /** `{ kind?, search?, order?, limit?, after? }` */
  readonly 'ai.inbox.list': (actor: Actor, ...args: readonly unknown[]) => Promise<InboxPage>;
  /** `{ executionId }` of a failed run. Dismissing it again changes nothing. @throws ConflictError for other runs */
  readonly 'ai.inbox.dismiss': (actor: Actor, ...args: readonly unknown[]) => Promise<{ readonly executionId: string }>;
  /** `{ executionId, callId }`. Returns the call with its complete arguments and result. */
  readonly 'ai.runs.getCall': (actor: Actor, ...args: readonly unknown[]) => Promise<CompleteCallView>;
}

export const INBOX_KINDS = [
  'approval',
  'review',
  'external',
  'parked',
  'tools',
  'failed',
] as const satisfies readonly InboxKind[];

const LIMITS = { entries: 200, defaultEntries: 50, search: 200, after: 500 } as const;
/** Entries that one search reads at most. The next page continues where it stopped. */
const MAX_SCANNED = 2_000;
const SCAN_BATCH = 500;

export function createInboxOperations({ inbox, ownerOf, onDismissed }: InboxPorts): InboxOperations {
  const assertAccess = async (actor: Actor, executionId: string): Promise<string> => {
    const owner = await ownerOf(executionId);
    if (owner === undefined || !canAccess(actor, owner)) throw new UnknownRunError();
    return owner;
  };
  return {
    async 'ai.inbox.list'(actor, ...args) {
      signedIn(actor);
      const { search, ...range } = readListArgument(args);
      const filter = actor.isAdmin === true ? {} : { userId: actor.userId };
      const [page, counts] = await Promise.all([
        search === '' ? readPage(inbox, { ...range, filter }) : scan(inbox, { ...range, filter }, search),
        countAll(inbox, filter),
      ]);
      return { ...page, counts };
    },
    async 'ai.inbox.dismiss'(actor, ...args) {
      signedIn(actor);
      const { executionId } = readNames(args, ['executionId']);
      const owner = await assertAccess(actor, executionId);
      if (!(await inbox.markHandled(executionId)))
        throw new ConflictError('Only a failed run can be dismissed.', { path: 'executionId' });
      onDismissed?.(executionId, owner);
      return { executionId };
    },
    async 'ai.runs.getCall'(actor, ...args) {
      signedIn(actor);
      const { executionId, callId } = readNames(args, ['executionId', 'callId']);
      await assertAccess(actor, executionId);
      const call = await inbox.call(executionId, callId);
      if (call === undefined) throw new UnknownCallError();
      return call;
    },
  };
}

/** The run exists, but has no such call. */
export class UnknownCallError extends LLMInvalidRequestError {
  constructor() {
    super('The run has no such call.', { path: 'callId' });
  }

  override get httpStatus(): number {
    return 404;
  }
}

type Page = Pick<InboxPage, 'entries' | 'next'>;

async function readPage(inbox: InboxReader, range: InboxRange): Promise<Page> {
  const { limit } = range;
  const found = await inbox.entries({ ...range, limit: limit + 1 });
  return toPage(found.slice(0, limit), found.length > limit ? found[limit - 1] : undefined);
}

/** Reads entries in their order and returns those that match. */
async function scan(inbox: InboxReader, range: InboxRange, search: string): Promise<Page> {
  const matches: InboxEntry[] = [];
  let last = range.after;
  for (let scanned = 0; scanned < MAX_SCANNED; scanned += SCAN_BATCH) {
    const batch = await inbox.entries({ ...range, after: last, limit: SCAN_BATCH });
    for (const entry of batch) {
      if (matchesSearch(entry, search)) {
        if (matches.length === range.limit) return toPage(matches, matches.at(-1));
        matches.push(entry);
      }
      last = entry;
    }
    if (batch.length < SCAN_BATCH) return toPage(matches, undefined);
  }
  return toPage(matches, last);
}

async function countAll(inbox: InboxReader, filter: InboxFilter): Promise<InboxCounts> {
  const counts = await inbox.counts(filter);
  return { ...counts, total: INBOX_KINDS.reduce((sum, kind) => sum + counts[kind], 0) };
}

/** Matches parts of titles, tools, users, providers, models and errors, whatever their case, and ids as they are. */
function matchesSearch(entry: InboxEntry, search: string): boolean {
  const { title, userId, providerId, model, executionId } = entry;
  return [title, userId, providerId, model ?? '', executionId, ...searchedFieldsOf(entry)].some((value) =>
    value.toLowerCase().includes(search),
  );
}

function searchedFieldsOf(entry: InboxEntry): readonly string[] {
  switch (entry.kind) {
    case 'failed':
      return [entry.error.code, entry.error.message];
    case 'parked':
      return [entry.parked.reason, entry.parked.message];
    case 'tools':
      return entry.awaitedTools.names;
    default:
      return [entry.name, entry.callId];
  }
}

function toPage(entries: readonly InboxEntry[], last: InboxPosition | undefined): Page {
  return { entries, ...(last === undefined ? {} : { next: `${last.createdAt}:${last._id}` }) };
}

interface ListArgument {
  readonly kinds: readonly InboxKind[];
  /** In lower case; the empty string matches everything. */
  readonly search: string;
  readonly order: 'asc' | 'desc';
  readonly limit: number;
  readonly after: InboxPosition | undefined;
}

function readListArgument(args: readonly unknown[]): ListArgument {
  const fields = readObject(single(args) ?? {}, ['kind', 'search', 'order', 'limit', 'after']);
  const kind = optionalValue(fields, 'kind', oneOf(INBOX_KINDS));
  return {
    kinds: kind === undefined ? INBOX_KINDS : [kind],
    search: (optionalValue(fields, 'search', text(LIMITS.search)) ?? '').trim().toLowerCase(),
    order: optionalValue(fields, 'order', oneOf(['asc', 'desc'])) ?? 'asc',
    limit: optionalValue(fields, 'limit', integer(1, LIMITS.entries)) ?? LIMITS.defaultEntries,
    after: optionalValue(fields, 'after', position),
  };
}

function position(value: unknown, path: string): InboxPosition {
  const [, createdAt = '', _id = ''] = /^(\d{1,15}):(.+)$/s.exec(text(LIMITS.after)(value, path)) ?? [];
  if (_id === '') throw new LLMInvalidRequestError(`"${path}" must be the \`next\` of an earlier page.`, { path });
  return { createdAt: Number(createdAt), _id };
}

const NAMES = { executionId: identifier(ARGUMENT_LIMITS.id), callId: identifier(ARGUMENT_LIMITS.callId) } as const;

function readNames<N extends keyof typeof NAMES>(args: readonly unknown[], names: readonly N[]): Record<N, string> {
  const fields = readObject(single(args), names);
  return Object.fromEntries(names.map((name) => [name, required(fields, name, NAMES[name])])) as Record<N, string>;
}

function single(args: readonly unknown[]): unknown {
  if (args.length > 1) throw new LLMInvalidRequestError('Pass one argument, an object.', { path: '' });
  return args[0];
}
