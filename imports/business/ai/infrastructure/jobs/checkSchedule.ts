/** Validates schedules for all queues. */
import { Cron } from 'croner';
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { Schedule } from '../../domain/interfaces/JobQueue';
import { CRON_OPTIONS } from './cronTimes';

/** @throws LLMInvalidRequestError for an invalid name, expression or time zone, or a schedule that is never due */
export function checkSchedule({ name, cron, timezone = 'UTC' }: Schedule): void {
  if (!/^[\w.:-]{1,100}$/.test(name))
    throw new LLMInvalidRequestError(
      `Invalid schedule name "${name}". Expected 1 to 100 letters, digits, "_", ".", ":" and "-".`,
      {
        path: 'name',
      },
    );
  let next: Date | null;
  try {
    next = new Cron(cron, { ...CRON_OPTIONS, timezone, paused: true }).nextRun();
  } catch (cause) {
    throw new LLMInvalidRequestError(
      `The schedule "${name}" has an invalid cron expression or time zone: "${cron}" in ${timezone}.`,
      {
        path: 'cron',
        cause,
      },
    );
  }
  if (next === null)
    throw new LLMInvalidRequestError(`The schedule "${name}" is never due: "${cron}".`, { path: 'cron' });
}
