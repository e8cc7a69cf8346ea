/** One understanding of schedules for all queues. */
import { Cron } from 'croner';
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { Schedule } from '../../domain/interfaces/JobQueue';

export const CRON_OPTIONS = { mode: '5-part' } as const;

/** @throws LLMInvalidRequestError for a name, an expression or a time zone that can't be read */
export function checkSchedule({ name, cron, timezone = 'UTC' }: Schedule): void {
  if (!/^[\w.:-]{1,100}$/.test(name))
    throw new LLMInvalidRequestError(`'${name}' is no name of a schedule: 1 to 100 letters, digits, _ . : and -`, {
      path: 'name',
    });
  let next: Date | null;
  try {
    next = new Cron(cron, { ...CRON_OPTIONS, timezone, paused: true }).nextRun();
  } catch (cause) {
    throw new LLMInvalidRequestError(`the schedule '${name}' can't be read: '${cron}' in ${timezone}`, {
      path: 'cron',
      cause,
    });
  }
  if (next === null)
    throw new LLMInvalidRequestError(`the schedule '${name}' never comes: '${cron}'`, { path: 'cron' });
}
