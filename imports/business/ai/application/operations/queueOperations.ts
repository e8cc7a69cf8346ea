/** `ai.queue.*` and `ai.schedules.*` */
import * as v from 'valibot';
import type { AuditRule } from '../../../../host/AuditRule';
import { defineOperation } from '../../../../host/defineOperation';
import { identifier, integer, line, object, time } from '../../../../host/schemas';
import type { Queue } from './Queue';
import { ARGUMENT_LIMITS } from './readArguments';

export interface QueueServices {
  readonly queue: Queue;
}

const MAX_LISTED = 500;
const DEFAULT_LISTED = 100;
const MAX_NAME_LENGTH = 100;

const paused = v.optional(v.looseObject({ at: time, by: v.optional(v.string()) }));
const status = v.looseObject({
  paused,
  engine: v.picklist(['local', 'agenda']),
  running: v.number(),
  concurrency: v.number(),
});
const queuedRun = v.looseObject({
  _id: v.string(),
  userId: v.string(),
  title: v.string(),
  providerId: v.string(),
  model: v.optional(v.string()),
  source: v.string(),
  createdAt: time,
  dueAt: v.optional(v.number()),
});
const schedule = v.looseObject({
  name: v.string(),
  cron: v.string(),
  timezone: v.string(),
  isRegisteredHere: v.boolean(),
  registeredAt: time,
  nextRunAt: v.optional(time),
  lastRun: v.optional(v.looseObject({ startedAt: time, endedAt: v.optional(time), error: v.optional(v.string()) })),
  paused,
});
const named = object({ name: line(MAX_NAME_LENGTH) });
const OF_SCHEDULE = { kind: 'schedule', id: 'name' } as const satisfies Partial<AuditRule>;

export const QUEUE_OPERATIONS = [
  defineOperation({
    name: 'ai.queue.list',
    summary: 'List the runs that wait for a worker, in the order in which they start, and the state of the queue',
    description: '`total` counts all that wait, also those beyond `limit`. Users get their own.',
    access: 'read',
    argument: object({ limit: v.optional(integer(1, MAX_LISTED), DEFAULT_LISTED) }),
    result: v.looseObject({ ...status.entries, runs: v.array(queuedRun), total: v.number() }),
    http: 'GET /api/queue',
    reads: ['queue', 'runs'],
    execute: ({ queue }: QueueServices, { actor, argument }) => queue.list(actor, argument.limit),
  }),
  defineOperation({
    name: 'ai.queue.pause',
    summary: 'Have workers start no more runs',
    access: 'admin',
    argument: object({}),
    result: status,
    http: 'POST /api/queue/pause',
    changes: ['queue'],
    audit: { action: 'queue.pause', kind: 'queue' },
    execute: ({ queue }: QueueServices, { actor }) => queue.pause(actor),
  }),
  defineOperation({
    name: 'ai.queue.resume',
    summary: 'Have workers start runs again',
    access: 'admin',
    argument: object({}),
    result: status,
    http: 'POST /api/queue/resume',
    changes: ['queue'],
    audit: { action: 'queue.resume', kind: 'queue' },
    execute: ({ queue }: QueueServices, { actor }) => queue.resume(actor),
  }),
  defineOperation({
    name: 'ai.queue.runNow',
    summary: 'Start a queued run at once',
    description: 'A run that no longer waits is a `conflict`.',
    access: 'generate',
    argument: object({ executionId: identifier(ARGUMENT_LIMITS.id) }),
    result: v.looseObject({ executionId: v.string() }),
    http: 'POST /api/queue/runs/:executionId/run-now',
    changes: ['queue', 'runs'],
    audit: { action: 'run.start_now', kind: 'run', id: 'executionId', owner: 'run', isOfOthersOnly: true },
    execute: ({ queue }: QueueServices, { actor, argument }) => queue.runNow(argument.executionId, actor),
  }),
  defineOperation({
    name: 'ai.schedules.list',
    summary: 'List schedules, with their next time and how the last execution went',
    access: 'admin',
    argument: object({}),
    result: v.array(schedule),
    http: { address: 'GET /api/schedules', field: 'schedules' },
    reads: ['queue'],
    execute: ({ queue }: QueueServices) => queue.schedules(),
  }),
  defineOperation({
    name: 'ai.schedules.pause',
    summary: 'Skip the times of a schedule',
    access: 'admin',
    argument: named,
    result: schedule,
    http: 'POST /api/schedules/:name/pause',
    changes: ['queue'],
    audit: { action: 'schedule.pause', ...OF_SCHEDULE },
    execute: ({ queue }: QueueServices, { actor, argument }) => queue.pauseSchedule(argument.name, actor),
  }),
  defineOperation({
    name: 'ai.schedules.resume',
    summary: 'Keep to the times of a schedule again',
    access: 'admin',
    argument: named,
    result: schedule,
    http: 'POST /api/schedules/:name/resume',
    changes: ['queue'],
    audit: { action: 'schedule.resume', ...OF_SCHEDULE },
    execute: ({ queue }: QueueServices, { actor, argument }) => queue.resumeSchedule(argument.name, actor),
  }),
  defineOperation({
    name: 'ai.schedules.runNow',
    summary: 'Run the task of a schedule as soon as possible',
    access: 'admin',
    argument: named,
    result: schedule,
    http: 'POST /api/schedules/:name/run-now',
    changes: ['queue'],
    audit: { action: 'schedule.run', ...OF_SCHEDULE },
    execute: ({ queue }: QueueServices, { actor, argument }) => queue.runScheduleNow(argument.name, actor),
  }),
] as const;
