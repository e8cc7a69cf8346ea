/** `ai.queue.*` and `ai.schedules.*` for any transport. Users see their own queued runs, admins control the queue. */
import { identifier, integer, line, optionalValue, readObject, required } from '../../domain/arguments';
import { LLMInvalidRequestError, LLMPermissionError } from '../../domain/errors/LLMErrors';
import type { JobControl } from '../../domain/interfaces/JobControl';
import type { Logger } from '../../domain/interfaces/Logger';
import type { QueuedRunReader } from '../../domain/interfaces/QueuedRunReader';
import type { Actor } from '../../domain/types/Actor';
import type { QueueStatus, QueueView, ScheduleView } from '../../domain/types/QueueViews';
import { ARGUMENT_LIMITS } from './readArguments';
import { canAccess, signedIn, UnknownRunError } from './RunOperations';

export interface QueueOperationsPorts {
  readonly jobs: JobControl;
  readonly runs: QueuedRunReader;
  /** The user id of the run's owner, or undefined for an unknown run. */
  readonly ownerOf: (executionId: string) => Promise<string | undefined>;
  /** @throws ConflictError for a run that does not wait */
  readonly runNow: (executionId: string) => Promise<void>;
  /** Called after every change. */
  readonly onChange?: () => void;
  /** Receives every change, at the level info. */
  readonly logger: Logger;
}

/**
 * Every operation throws LLMAuthError if nobody is logged in, and LLMInvalidRequestError for its argument; those of the
 * queue and its schedules throw LLMPermissionError for users who are no admins.
 */
export interface QueueOperations {
  /** Takes `{ limit? }`, at most 500. */
  readonly 'ai.queue.list': (actor: Actor, argument?: unknown) => Promise<QueueView>;
  readonly 'ai.queue.pause': (actor: Actor, argument?: unknown) => Promise<QueueStatus>;
  readonly 'ai.queue.resume': (actor: Actor, argument?: unknown) => Promise<QueueStatus>;
  /** Takes `{ executionId }`. @throws UnknownRunError; ConflictError for a run that does not wait */
  readonly 'ai.queue.runNow': (actor: Actor, argument: unknown) => Promise<{ readonly executionId: string }>;
  readonly 'ai.schedules.list': (actor: Actor, argument?: unknown) => Promise<readonly ScheduleView[]>;
  /** These three take `{ name }`. */
  readonly 'ai.schedules.pause': (actor: Actor, argument: unknown) => Promise<ScheduleView>;
  readonly 'ai.schedules.resume': (actor: Actor, argument: unknown) => Promise<ScheduleView>;
  readonly 'ai.schedules.runNow': (actor: Actor, argument: unknown) => Promise<ScheduleView>;
}

const MAX_LISTED = 500;
const DEFAULT_LISTED = 100;
const MAX_NAME_LENGTH = 100;

export function createQueueOperations({
  jobs,
  runs,
  ownerOf,
  runNow,
  onChange = () => undefined,
  logger,
}: QueueOperationsPorts): QueueOperations {
  /** @param change returns false for an unknown schedule */
  const onSchedule =
    (done: string, change: (name: string, actor: Actor) => Promise<boolean>) =>
    async (actor: Actor, argument: unknown): Promise<ScheduleView> => {
      assertAdmin(actor);
      const name = required(readObject(argument, ['name']), 'name', line(MAX_NAME_LENGTH));
      const view = (await change(name, actor))
        ? (await jobs.schedules()).find((schedule) => schedule.name === name)
        : undefined;
      if (view === undefined) throw new LLMInvalidRequestError(`There is no schedule "${name}".`, { path: 'name' });
      onChange();
      logger.info(`The schedule "${name}" was ${done}.`, { by: actor.userId });
      return view;
    };

  return {
    async 'ai.queue.list'(actor, argument = {}) {
      signedIn(actor);
      const limit = optionalValue(readObject(argument, ['limit']), 'limit', integer(1, MAX_LISTED)) ?? DEFAULT_LISTED;
      const isAdmin = actor.isAdmin === true;
      const [status, waiting] = await Promise.all([
        jobs.status(),
        runs.waiting(limit, isAdmin ? undefined : actor.userId),
      ]);
      const { paused } = status;
      return {
        ...status,
        ...(paused === undefined || isAdmin ? {} : { paused: { at: paused.at } }),
        ...waiting,
      };
    },
    async 'ai.queue.pause'(actor, argument = {}) {
      assertAdmin(actor);
      readObject(argument, []);
      await jobs.pause(actor.userId);
      onChange();
      logger.info('The job queue was paused.', { by: actor.userId });
      return jobs.status();
    },
    async 'ai.queue.resume'(actor, argument = {}) {
      assertAdmin(actor);
      readObject(argument, []);
      await jobs.resume();
      onChange();
      logger.info('The job queue was resumed.', { by: actor.userId });
      return jobs.status();
    },
    async 'ai.queue.runNow'(actor, argument) {
      signedIn(actor);
      const fields = readObject(argument, ['executionId']);
      const executionId = required(fields, 'executionId', identifier(ARGUMENT_LIMITS.id));
      if (!canAccess(actor, await ownerOf(executionId))) throw new UnknownRunError();
      await runNow(executionId);
      onChange();
      return { executionId };
    },
    async 'ai.schedules.list'(actor, argument = {}) {
      assertAdmin(actor);
      readObject(argument, []);
      return jobs.schedules();
    },
    'ai.schedules.pause': onSchedule('paused', (name, { userId }) => jobs.pauseSchedule(name, userId)),
    'ai.schedules.resume': onSchedule('resumed', (name) => jobs.resumeSchedule(name)),
    'ai.schedules.runNow': onSchedule('run out of turn', (name) => jobs.triggerSchedule(name)),
  };
}

function assertAdmin(actor: Actor): void {
  signedIn(actor);
  if (actor.isAdmin !== true) throw new LLMPermissionError('Only administrators may control the job queue.');
}
