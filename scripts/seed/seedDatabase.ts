/** Fills a database with invented runs and their tool calls, for screenshots and measurements. */
import type { DocumentDatabase } from '../../imports/database/DocumentDatabase';
import {
  callDocumentId,
  RUNS,
  toCallFields,
  TOOL_CALLS,
  toRunDocument,
} from '../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import type {
  RunDocument,
  ToolCallDocument,
} from '../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import { DocumentRequestStore } from '../../imports/business/requestLog/infrastructure/DocumentRequestStore';
import { seededRun } from './SeededRun';
import { toRequests } from './toRequests';

export interface SeedOptions {
  readonly runs: number;
  /** How many of them wait for a person or another service: the last ones, from the last six hours. */
  readonly waiting: number;
  /** The end of the 30 days over which the runs are spread, in milliseconds since the epoch. */
  readonly now: number;
  /** Returns numbers from 0 to 1. */
  readonly random: () => number;
}

const PERIOD = 30 * 86_400_000;
/** A call that has waited for a day times out when a host takes over its run. */
const WAITING_PERIOD = 6 * 3_600_000;
/** From `now`. */
const WAIT_LIFETIME = 7 * 86_400_000;
/** Older failed runs are no longer in the inbox. */
const FAILURE_LIFETIME = 86_400_000;
const BATCH = 2_000;
/** A process that is gone: the next host takes over the runs that wait. */
const OWNER = 'seed';

export async function seedDatabase(
  database: DocumentDatabase,
  { runs, waiting, now, random }: SeedOptions,
): Promise<{ readonly runs: number; readonly calls: number; readonly requests: number }> {
  const requestStore = new DocumentRequestStore(database);
  const stored = { runs: 0, calls: 0, requests: 0 };
  for (let start = 0; start < runs; start += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, runs - start) }, (_, at) => {
      const index = start + at;
      const isWaiting = index >= runs - waiting;
      // More runs by day than by night, and each day about as many as the day before.
      const createdAt = isWaiting
        ? now - WAITING_PERIOD * random()
        : now - PERIOD + (PERIOD * (index + random())) / runs + nightShift(random);
      return seededRun(random, {
        index,
        createdAt: Math.round(Math.min(createdAt, now)),
        ...(isWaiting ? { waitsUntil: now + WAIT_LIFETIME } : {}),
      });
    });
    const runDocuments = batch.map(({ request, progress }) => ({
      ...toRunDocument(request, progress, OWNER),
      ...(progress.state === 'failed' && request.createdAt < now - FAILURE_LIFETIME ? { handledAt: now } : {}),
    }));
    const callDocuments = batch.flatMap(({ request: { executionId, userId }, calls }) =>
      calls.map((call) => ({
        _id: callDocumentId(executionId, call.id),
        fence: 1,
        ...toCallFields(executionId, userId, call),
      })),
    );
    await database.collection<RunDocument>(RUNS).insertMany(runDocuments);
    await database.collection<ToolCallDocument>(TOOL_CALLS).insertMany(callDocuments);
    const requests = batch.flatMap(toRequests);
    await requestStore.save(requests.map((entry) => ({ entry })));
    stored.requests += requests.length;
    stored.runs += runDocuments.length;
    stored.calls += callDocuments.length;
  }
  return stored;
}

/** Milliseconds. Moves most runs of a night into the following day. */
function nightShift(random: () => number): number {
  return random() < 0.5 ? 0 : Math.round(random() ** 2 * 6 * 3_600_000);
}
