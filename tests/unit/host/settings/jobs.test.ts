import { expect } from 'chai';
import sinon from 'sinon';
import { LLMInvalidRequestError, MissingPackageError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { MeteorDatabase } from '../../../../imports/database/meteor/MeteorDatabase';
import { openJobQueue } from '../../../../imports/host/openJobQueue';
import { readJobSettings } from '../../../../imports/host/settings/jobSettings';
import { resetMeteor } from '../../../stubs/server/registry';
import { failure } from '../../../support/failure';
import { METEOR_PACKAGES } from '../../../meteor/meteorPackages';

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
    expect(
      read({ JOBS_CONCURRENCY: '3', JOBS_CONCURRENCY_PER_USER: '2', RUNS_KEEP_WHOLE_DAYS: '1', RUNS_KEEP_DAYS: '90' }),
    ).to.deep.equal({
      concurrency: 3,
      concurrencyPerUser: 2,
      retention: { compactAfter: DAY, removeAfter: 90 * DAY },
    });
  });

  describe('without the package agenda', () => {
    const url = { MONGO_URL: 'mongodb://db/app' };
    const missing = () => Promise.reject(new MissingPackageError('agenda', 'The job queue'));
    let warn: sinon.SinonStub;
    beforeEach(() => {
      resetMeteor();
      warn = sinon.stub(console, 'warn');
    });
    afterEach(() => sinon.restore());
    after(() => resetMeteor());

    it('open a queue in this process, and warn, if no engine is chosen', async () => {
      const queue = await openJobQueue(read(url), new MeteorDatabase(METEOR_PACKAGES), missing);
      expect(queue.engine).to.equal('local');
      expect(warn.args.flat().join()).to.match(/npm install agenda@6 @agendajs\/mongo-backend\..*JOBS_ENGINE/);
    });

    it('fail if Agenda is chosen', async () => {
      const settings = read({ ...url, JOBS_ENGINE: 'agenda' });
      const opening = openJobQueue(settings, new MeteorDatabase(METEOR_PACKAGES), missing);
      expect(await failure(opening)).to.be.instanceOf(MissingPackageError);
      expect(warn.callCount).to.equal(0);
    });

    it('fail for any other error', async () => {
      const unreachable = new Error('The database is down.');
      const opening = openJobQueue(read(url), new MeteorDatabase(METEOR_PACKAGES), () => Promise.reject(unreachable));
      expect(await failure(opening)).to.equal(unreachable);
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
