import { expect } from 'chai';
import { LLMInvalidRequestError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { readJobSettings } from '../../../../imports/startup/settings/jobs';

const read = (variables: Readonly<Record<string, string>>): ReturnType<typeof readJobSettings> =>
  readJobSettings((name) => variables[name]);
const DAY = 86_400_000;

describe('settings of jobs', () => {
  it('select Agenda if there is a MongoDB, and this process’s memory otherwise', () => {
    expect(read({})).to.deep.equal({ retention: {} });
    expect(read({ MONGO_URL: 'mongodb://db/app' })).to.deep.equal({ agendaUrl: 'mongodb://db/app', retention: {} });
    expect(read({ MONGO_URL: 'mongodb://db/app', JOBS_ENGINE: 'local' })).to.deep.equal({ retention: {} });
  });

  it('set how many runs are concurrent and how long they are retained', () => {
    expect(read({ JOBS_CONCURRENCY: '3', RUNS_KEEP_WHOLE_DAYS: '1', RUNS_KEEP_DAYS: '90' })).to.deep.equal({
      concurrency: 3,
      retention: { compactAfter: DAY, removeAfter: 90 * DAY },
    });
  });

  const WRONG: readonly (readonly [title: string, variables: Readonly<Record<string, string>>, path: string])[] = [
    ['an unknown engine', { JOBS_ENGINE: 'cron' }, 'JOBS_ENGINE'],
    ['Agenda without a database', { JOBS_ENGINE: 'agenda' }, 'JOBS_ENGINE'],
    ['a concurrency of zero', { JOBS_CONCURRENCY: '0' }, 'JOBS_CONCURRENCY'],
    ['a fractional number of days', { RUNS_KEEP_DAYS: '0.5' }, 'RUNS_KEEP_DAYS'],
  ];
  for (const [title, variables, path] of WRONG) {
    it(`reject ${title}`, () => {
      expect(() => read(variables))
        .to.throw(LLMInvalidRequestError)
        .with.property('path', path);
    });
  }
});
