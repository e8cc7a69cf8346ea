/** What waits for people and other services. Users see their own, administrators everyone's. */
import { ConflictError } from '../../domain/errors/LLMErrors';
import { ObjectNotFoundError } from '../../domain/errors/ObjectNotFoundError';
import type { InboxFilter, InboxPosition, InboxRange, InboxReader } from '../../domain/interfaces/InboxReader';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { Actor } from '../../domain/types/Actor';
import type { CompleteCallView, InboxCounts, InboxEntry, InboxKind, InboxPage } from '../../domain/types/InboxViews';
import { accessibleOwner, ownOnly } from './runAccess';

export interface InboxPorts {
  readonly inbox: InboxReader;
  /** The user id of the run's owner, or undefined for an unknown run. */
  readonly ownerOf: (executionId: string) => Promise<string | undefined>;
  /** Called after a failed run was dismissed. */
  readonly onDismissed?: (executionId: string, ownerId: string) => void;
}

export interface InboxQuery extends Pick<InboxRange, 'order' | 'after' | 'limit'> {
  /** Absent: all. */
  readonly kind?: InboxKind | undefined;
  /** In lower case; the empty string matches everything. */
  readonly search: string;
}

export const INBOX_KINDS = [
  'approval',
  'review',
  'external',
  'parked',
  'tools',
  'failed',
] as const satisfies readonly InboxKind[];

/** Entries that one search reads at most. The next page continues where it stopped. */
const MAX_SCANNED = 2_000;
const SCAN_BATCH = 500;

export class Inbox {
  private readonly ports: InboxPorts;

  constructor(ports: InboxPorts) {
    this.ports = ports;
  }

  async list(actor: Actor, { kind, search, ...page }: InboxQuery): Promise<InboxPage> {
    const { inbox } = this.ports;
    const filter = ownOnly(actor);
    const range = { ...page, kinds: kind === undefined ? INBOX_KINDS : [kind], filter };
    const [found, counts] = await Promise.all([
      search === '' ? readPage(inbox, range) : scan(inbox, range, search),
      countAll(inbox, filter),
    ]);
    return { ...found, counts };
  }

  /** Dismissing it again changes nothing. @throws UnknownRunError; ConflictError for a run that has not failed */
  async dismiss(actor: Actor, executionId: string): Promise<{ readonly executionId: string }> {
    const owner = await accessibleOwner(actor, executionId, this.ports.ownerOf);
    if (!(await this.ports.inbox.markHandled(executionId)))
      throw new ConflictError('Only a failed run can be dismissed.', { path: 'executionId' });
    this.ports.onDismissed?.(executionId, owner);
    return { executionId };
  }

  /** @returns the call with its complete arguments and result. @throws UnknownRunError, UnknownCallError */
  async call(actor: Actor, executionId: string, callId: string): Promise<CompleteCallView> {
    await accessibleOwner(actor, executionId, this.ports.ownerOf);
    const call = await this.ports.inbox.call(executionId, callId);
    if (call === undefined) throw new UnknownCallError();
    return call;
  }
}

/** The run exists, but has no such call. */
export class UnknownCallError extends ObjectNotFoundError {
  constructor() {
    super('The run has no such call.', { path: 'callId' });
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
  return omitUndefined({ entries, next: last === undefined ? undefined : `${last.createdAt}:${last._id}` });
}
