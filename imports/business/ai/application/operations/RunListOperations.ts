/**
 * `ai.runs.list`, `.summary`, `.get`, `.rate` and `.tag` for any transport. Users see their own runs, admins
 * everyone's.
 */
import { identifier, readObject, required } from '../../domain/arguments';
import type { RunLabels, RunListFilter, RunListReader, RunPage } from '../../domain/interfaces/RunViewReader';
import type { Actor } from '../../domain/types/Actor';
import type { Operation } from '../../domain/types/Operation';
import type { RunDetail, RunRating, RunSummary } from '../../domain/types/RunViews';
import { assertOwn } from './assertOwn';
import { ARGUMENT_LIMITS } from './readArguments';
import { readRating, readRunList, readRunSummary, readTagging } from './readRunList';
import { canAccess, signedIn, UnknownRunError } from './RunOperations';
import { visibleRuns } from './RunQueries';
import type { RunQueries } from './RunQueries';

export interface RunListPorts {
  readonly list: RunListReader & RunLabels;
  readonly queries: Pick<RunQueries, 'run'>;
  /** The user id of the run's owner, or undefined for an unknown run. */
  readonly ownerOf: (executionId: string) => Promise<string | undefined>;
  /** Called with the owner of a run that was rated or tagged. */
  readonly onChange?: (ownerId: string) => void;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
}

/** Every operation throws LLMAuthError if nobody is signed in, and LLMInvalidRequestError for invalid arguments. */
export interface RunListOperations {
  /** `{ …filter, sort?, order?, limit?, after? }`. Newest first unless sorted. @throws LLMPermissionError */
  readonly 'ai.runs.list': Operation<RunPage>;
  /** `{ …filter }`. @throws LLMPermissionError */
  readonly 'ai.runs.summary': Operation<RunSummary>;
  /** `{ executionId }`. @throws UnknownRunError */
  readonly 'ai.runs.get': Operation<RunDetail>;
  /** `{ executionId, rating, comment? }`. @throws UnknownRunError */
  readonly 'ai.runs.rate': Operation<{ readonly executionId: string; readonly rating: RunRating | null }>;
  /** `{ executionId, tags }`, which replace the run's tags. @throws UnknownRunError */
  readonly 'ai.runs.tag': Operation<{ readonly executionId: string; readonly tags: readonly string[] }>;
}

export function createRunListOperations(ports: RunListPorts): RunListOperations {
  const { list, queries, ownerOf, onChange, now = Date.now } = ports;
  const accessible = async (actor: Actor, executionId: string): Promise<string> => {
    const owner = await ownerOf(executionId);
    if (owner === undefined || !canAccess(actor, owner)) throw new UnknownRunError();
    return owner;
  };
  return {
    async 'ai.runs.list'(actor, argument = {}) {
      signedIn(actor);
      const { filter, ...page } = readRunList(argument);
      return list.page(permittedFilter(actor, filter), page);
    },
    async 'ai.runs.summary'(actor, argument = {}) {
      signedIn(actor);
      return list.summary(permittedFilter(actor, readRunSummary(argument)));
    },
    async 'ai.runs.get'(actor, argument) {
      signedIn(actor);
      const fields = readObject(argument, ['executionId']);
      return queries.run(actor, required(fields, 'executionId', identifier(ARGUMENT_LIMITS.id)));
    },
    async 'ai.runs.rate'(actor, argument) {
      signedIn(actor);
      const { executionId, rating, comment } = readRating(argument);
      const owner = await accessible(actor, executionId);
      await list.rate(executionId, rating, {
        by: actor.userId,
        at: now(),
        ...(comment === undefined || comment === '' || rating === null ? {} : { comment }),
      });
      onChange?.(owner);
      return { executionId, rating };
    },
    async 'ai.runs.tag'(actor, argument) {
      signedIn(actor);
      const { executionId, tags } = readTagging(argument);
      const owner = await accessible(actor, executionId);
      await list.tag(executionId, tags);
      onChange?.(owner);
      return { executionId, tags };
    },
  };
}

/** @throws LLMPermissionError for a user who asks for the runs of another */
function permittedFilter(actor: Actor, filter: RunListFilter): RunListFilter {
  assertOwn(actor, filter.userId, 'runs');
  return filter.userId === undefined ? visibleRuns(actor, filter) : filter;
}
