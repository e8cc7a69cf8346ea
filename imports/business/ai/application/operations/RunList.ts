/** Lists, sums, ratings and tags of runs. Users see their own runs, administrators everyone's. */
import { ConflictError } from '../../domain/errors/LLMErrors';
import type {
  RunLabels,
  RunListFilter,
  RunListReader,
  RunPage,
  RunPageRequest,
} from '../../domain/interfaces/RunViewReader';
import type { Actor, UserSearch } from '../../domain/types/Actor';
import type { RunDetail, RunRating, RunSummary } from '../../domain/types/RunViews';
import { assertOwn } from './assertOwn';
import { accessibleOwner } from './runAccess';
import { searchedUsers } from './searchedUsers';
import { visibleRuns } from './RunQueries';
import type { RunQueries } from './RunQueries';

export interface RunListPorts {
  readonly list: RunListReader & RunLabels;
  readonly queries: Pick<RunQueries, 'run'>;
  /** The user id of the run's owner, or undefined for an unknown run. */
  readonly ownerOf: (executionId: string) => Promise<string | undefined>;
  /** @returns false for a run that has not ended, or whose result another run has yet to take */
  readonly removeEnded: (executionId: string) => Promise<boolean>;
  /** Default: users are found by id. */
  readonly searchUsers?: UserSearch | undefined;
  /** Called with the owner of a run that was rated, tagged or removed. */
  readonly onChange?: (ownerId: string) => void;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

export interface RatedRun {
  readonly executionId: string;
  /** Null removes the comment, too. */
  readonly rating: RunRating | null;
  readonly comment?: string | undefined;
}

export interface TaggedRun {
  readonly executionId: string;
  readonly tags: readonly string[];
}

export class RunList {
  private readonly ports: RunListPorts;

  constructor(ports: RunListPorts) {
    this.ports = ports;
  }

  /** @throws LLMPermissionError for a user who asks for the runs of another */
  async page(actor: Actor, filter: RunListFilter, page: RunPageRequest): Promise<RunPage> {
    return this.ports.list.page(await this.searched(actor, filter), page);
  }

  /** @throws LLMPermissionError for a user who asks for the runs of another */
  async summary(actor: Actor, filter: RunListFilter): Promise<RunSummary> {
    return this.ports.list.summary(await this.searched(actor, filter));
  }

  /** @throws UnknownRunError */
  get(actor: Actor, executionId: string): Promise<RunDetail> {
    return this.ports.queries.run(actor, executionId);
  }

  /** @throws UnknownRunError; ConflictError for a run that has not ended */
  async remove(actor: Actor, executionId: string): Promise<{ readonly removed: true }> {
    const owner = await accessibleOwner(actor, executionId, this.ports.ownerOf);
    if (!(await this.ports.removeEnded(executionId)))
      throw new ConflictError(
        `The run "${executionId}" has not ended, or a run has yet to take its result. Cancel it first.`,
        { path: 'executionId' },
      );
    this.ports.onChange?.(owner);
    return { removed: true };
  }

  /** @throws UnknownRunError */
  async rate(actor: Actor, { executionId, rating, comment }: RatedRun): Promise<Omit<RatedRun, 'comment'>> {
    const owner = await accessibleOwner(actor, executionId, this.ports.ownerOf);
    const note = { by: actor.userId, at: (this.ports.now ?? Date.now)() };
    const hasComment = comment !== undefined && comment !== '' && rating !== null;
    await this.ports.list.rate(executionId, rating, hasComment ? { ...note, comment } : note);
    this.ports.onChange?.(owner);
    return { executionId, rating };
  }

  /** Replaces the tags. @throws UnknownRunError */
  async tag(actor: Actor, { executionId, tags }: TaggedRun): Promise<TaggedRun> {
    const owner = await accessibleOwner(actor, executionId, this.ports.ownerOf);
    await this.ports.list.tag(executionId, tags);
    this.ports.onChange?.(owner);
    return { executionId, tags };
  }

  private async searched(actor: Actor, filter: RunListFilter): Promise<RunListFilter> {
    const permitted = permittedFilter(actor, filter);
    return { ...permitted, searchedUsers: await searchedUsers(actor, filter.search, this.ports.searchUsers) };
  }
}

/** @throws LLMPermissionError for a user who asks for the runs of another */
function permittedFilter(actor: Actor, filter: RunListFilter): RunListFilter {
  assertOwn(actor, filter.userId, 'runs');
  return filter.userId === undefined ? visibleRuns(actor, filter) : filter;
}
