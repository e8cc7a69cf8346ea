/** When schedules are due around the changes of clocks in 2026, by both queues. */
import { EventEmitter } from 'node:events';
import type { Job } from 'agenda';
import { expect } from 'chai';
import { useFakeTimers } from 'sinon';
import { DEFAULT_JOB_LIMITS } from '../../../../../imports/business/ai/domain/interfaces/JobQueue';
import { AgendaJobQueue } from '../../../../../imports/business/ai/infrastructure/jobs/AgendaJobQueue';
import type { AgendaJobs } from '../../../../../imports/business/ai/infrastructure/jobs/AgendaJobs';
import { nextTimeOf } from '../../../../../imports/business/ai/infrastructure/jobs/cronTimes';
import { LocalJobQueue } from '../../../../../imports/business/ai/infrastructure/jobs/LocalJobQueue';
import { itInSoak } from '../../../../support/soak';
import { RecordingLogger } from '../../../../support/RecordingLogger';

const HOUR = 3_600_000;

/** Around noon of the day before, in UTC. */
const CHANGES = {
  'Europe/Lisbon': { spring: '2026-03-28T12:00Z', autumn: '2026-10-24T12:00Z' },
  'America/New_York': { spring: '2026-03-07T12:00Z', autumn: '2026-10-31T12:00Z' },
  // Half an hour, and spring is in October.
  'Australia/Lord_Howe': { autumn: '2026-04-04T02:00Z', spring: '2026-10-03T02:00Z' },
} as const;

function timesOf(cron: string, timezone: string, from: string, hours = 24): readonly string[] {
  const times: string[] = [];
  const end = Date.parse(from) + hours * HOUR;
  for (let now = Date.parse(from); ;) {
    const next = nextTimeOf({ cron, timezone }, now);
    if (next === undefined || next > end) return times;
    expect(next).to.be.greaterThan(now);
    times.push(new Date(next).toISOString().slice(5, 16));
    now = next;
  }
}

describe('the times of a schedule', () => {
  for (const [zone, season, cron, expected] of [
    // 01:00 became 02:00.
    ['Europe/Lisbon', 'spring', '30 1 * * *', ['03-29T01:30']],
    ['Europe/Lisbon', 'spring', '0 3 * * *', ['03-29T02:00']],
    // 02:00 became 01:00.
    ['Europe/Lisbon', 'autumn', '30 1 * * *', ['10-25T00:30']],
    ['Europe/Lisbon', 'autumn', '*/30 1 * * *', ['10-25T00:00', '10-25T00:30']],
    ['America/New_York', 'spring', '30 2 * * *', ['03-08T07:30']],
    ['America/New_York', 'spring', '0 2,3 * * *', ['03-08T07:00']],
    ['America/New_York', 'autumn', '30 1 * * *', ['11-01T05:30']],
    ['Australia/Lord_Howe', 'spring', '15 2 * * *', ['10-03T15:45']],
    ['Australia/Lord_Howe', 'autumn', '45 1 * * *', ['04-04T14:45']],
  ] as const)
    it(`are each once a day, when the clocks change: ${cron} in ${zone} in ${season}`, () => {
      const times = timesOf(cron, zone, CHANGES[zone][season as 'spring']);
      expect(times).to.deep.equal(expected);
    });

  it('count hours as they pass', () => {
    for (const [zone, seasons] of Object.entries(CHANGES))
      for (const from of Object.values(seasons)) {
        const every = timesOf('*/30 * * * *', zone, from).map((time) => Date.parse(`2026-${time}Z`));
        expect(every).to.have.length(24 * 2);
        for (const [index, time] of every.entries())
          if (index > 0) expect(time - (every[index - 1] ?? 0)).to.equal(HOUR / 2);
        // The clocks of Lord Howe show a full hour one and a half hours after the last.
        if (zone !== 'Australia/Lord_Howe') expect(timesOf('0 * * * *', zone, from)).to.have.length(24);
      }
  });

  it('are found months ahead, and never for days that never come', () => {
    expect(timesOf('0 0 1 1 *', 'America/New_York', '2026-03-01T00:00Z', 9_000)).to.deep.equal(['01-01T05:00']);
    expect(nextTimeOf({ cron: '0 0 31 2 *' }, 0)).to.equal(undefined);
    expect(timesOf('0 3 * * *', 'UTC', '2026-03-28T12:00Z')).to.deep.equal(['03-29T03:00']);
  });

  itInSoak('are the same in both queues', async () => {
    for (const [timezone, seasons] of Object.entries(CHANGES))
      for (const noon of Object.values(seasons)) {
        // The clocks change within these hours.
        const from = new Date(Date.parse(noon) + (timezone === 'America/New_York' ? 17 : 12) * HOUR).toISOString();
        const clock = useFakeTimers({ now: Date.parse(from), toFake: ['setTimeout', 'clearTimeout', 'Date'] });
        try {
          for (const cron of ['30 1 * * *', '15 2 * * *', '*/20 * * * *']) {
            clock.setSystemTime(Date.parse(from));
            const local = await timesOfLocal({ cron, timezone }, () => clock.tickAsync(4 * HOUR));
            clock.setSystemTime(Date.parse(from));
            const agenda = await timesOfAgenda({ cron, timezone }, Date.parse(from) + 4 * HOUR, (time) =>
              clock.setSystemTime(time),
            );
            expect(local, `${cron} in ${timezone}`).to.deep.equal(agenda);
            expect(local.map((time) => time.slice(5, 16))).to.deep.equal(timesOf(cron, timezone, from, 4));
          }
        } finally {
          clock.restore();
        }
      }
  });
});

type Times = Pick<Parameters<LocalJobQueue['schedule']>[0], 'cron' | 'timezone'>;

async function timesOfLocal(times: Times, pass: () => Promise<unknown>): Promise<readonly string[]> {
  const queue = new LocalJobQueue({ logger: new RecordingLogger() });
  const at: string[] = [];
  await queue.schedule({ name: 'task', ...times }, () => Promise.resolve(void at.push(new Date().toISOString())));
  await queue.start(() => Promise.resolve());
  await pass();
  await queue.stop();
  return at;
}

/** Runs the job whenever its `nextRunAt` comes, as Agenda does. Agenda's own computation is left out. */
async function timesOfAgenda(times: Times, end: number, setTime: (time: number) => void): Promise<readonly string[]> {
  const job = {
    attrs: { name: 'task:task', nextRunAt: new Date(0) },
    repeatEvery: () => job,
    save: () => Promise.resolve(job),
  };
  let process = (_job: Job): Promise<void> => Promise.resolve();
  class Agenda extends EventEmitter {
    define = (_name: string, run: typeof process) => (process = run);
    create = () => job;
  }
  const jobs = { find: () => Promise.resolve(undefined) } as unknown as AgendaJobs;
  const options = { ...DEFAULT_JOB_LIMITS, pollEvery: 1_000, lockLifetime: 30_000, logger: new RecordingLogger() };
  const queue = new AgendaJobQueue({ Agenda } as unknown as typeof import('agenda'), jobs, options);
  const at: string[] = [];
  await queue.schedule({ name: 'task', ...times }, () => Promise.resolve(void at.push(new Date().toISOString())));
  while (job.attrs.nextRunAt.getTime() <= end) {
    setTime(job.attrs.nextRunAt.getTime());
    await process(job as unknown as Job);
  }
  return at;
}
