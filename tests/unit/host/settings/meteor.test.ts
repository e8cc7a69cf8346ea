import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { expect } from 'chai';
import { LLMInvalidRequestError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { readMeteorSettings } from '../../../../imports/host/settings/meteor';
import { newKey } from '../../../support/oauth/ProvidersHost';

const SECRETS = newKey('k1');
const BOSS = { email: 'boss@example.com', password: 'a long password' };

function problemOf(settings: unknown, env: Readonly<Record<string, string>> = {}): LLMInvalidRequestError {
  try {
    readMeteorSettings(settings, env);
  } catch (error) {
    if (error instanceof LLMInvalidRequestError) return error;
    throw error;
  }
  throw new Error('The settings were accepted.');
}

describe('readMeteorSettings', () => {
  it('reads every setting', () => {
    const settings = readMeteorSettings(
      {
        secrets: SECRETS,
        admins: ['ann', BOSS.email],
        adminRoles: ['operator'],
        firstUser: BOSS,
        allowSignUp: true,
        allowPrivateHosts: true,
        callsPerMinute: { model: 5 },
        JOBS_CONCURRENCY: 2,
        REQUEST_LOG_BODIES: 'on',
        STORAGE_MB_PER_USER: 2,
        USER_CONNECTIONS: 3,
        CORS_ORIGINS: 'https://app.example.com',
        RESPONSE_CACHE: 'off',
        GUARDRAILS: { pii: {} },
        ANTHROPIC_API_KEY: 'k',
      },
      {},
    );
    expect(settings).to.deep.include({
      secretKeys: SECRETS,
      admins: ['ann', BOSS.email],
      adminRoles: ['operator'],
      firstUser: BOSS,
      allowSignUp: true,
      allowPrivateHosts: true,
      callLimits: { model: 5 },
    });
    expect(settings.jobs).to.include({ concurrency: 2 });
    expect(settings.requestLog).to.include({ bodies: true });
    expect(settings.storage).to.deep.equal({ perUser: 2 * 1_024 ** 2 });
    expect(settings.userLimits).to.deep.equal({ connections: 3 });
    expect(settings.guardrails?.map(({ name }) => name)).to.deep.equal(['pii']);
    expect(settings.responseCache).to.equal(false);
    expect(settings.corsOrigins).to.deep.equal(['https://app.example.com']);
    expect(settings.ai.providers.map(({ id }) => id)).to.deep.equal(['anthropic']);
  });

  it('needs nothing but sealing keys, and leaves accounts to the app', () => {
    const settings = readMeteorSettings(undefined, { AI_SECRET_KEYS: SECRETS });
    expect(settings).to.deep.include({ secretKeys: SECRETS, admins: [], adminRoles: [], allowPrivateHosts: false });
    expect(settings).to.not.have.any.keys('firstUser', 'allowSignUp');
  });

  it('reports every invalid setting in one error', () => {
    const { message } = problemOf(
      {
        secrets: 7,
        admins: 'ann',
        adminRoles: [1],
        firstUser: { ...BOSS, password: 'short' },
        allowSignUp: 'yes',
        allowPrivateHosts: 'no',
        callsPerMinute: { model: '5' },
        budgets: { week: {} },
        JOBS_ENGINE: 'cron',
        RUNS_KEEP_DAYS: '0.5',
        REQUEST_LOG: 'maybe',
        STORAGE_MB: 'much',
        USER_PARALLEL_CALLS: 'few',
        CORS_ORIGINS: '*',
        RESPONSE_CACHE: 'sometimes',
        GUARDRAILS: { pii: { types: ['names'] } },
      },
      { OPENAI_API_KEY: 'k', OPENAI_API_BASE: 'nowhere' },
    );
    for (const name of [
      'secrets',
      'admins',
      'adminRoles[0]',
      'firstUser.password',
      'allowSignUp',
      'allowPrivateHosts',
      'callsPerMinute.model',
      'budgets.week',
    ])
      expect(message).to.contain(`Meteor.settings.ai.${name} `);
    for (const name of [
      'JOBS_ENGINE',
      'RUNS_KEEP_DAYS',
      'REQUEST_LOG',
      'STORAGE_MB',
      'USER_PARALLEL_CALLS',
      'CORS_ORIGINS',
      'RESPONSE_CACHE',
      'GUARDRAILS.pii.types',
      'OPENAI_API_BASE',
    ])
      expect(message).to.contain(name);
  });

  it('rejects settings that are not an object', () => {
    expect(problemOf('ai').path).to.equal('settings.ai');
  });

  it('explains what sealing keys are for when there are none', () => {
    expect(problemOf({}).message).to.match(/secrets or AI_SECRET_KEYS.*sealed.*all processes.*Generate one/s);
  });

  it('names the setting whose sealing keys are invalid, without quoting them', () => {
    const invalid = 'k1:c2hvcnQta2V5';
    for (const [problem, name] of [
      [problemOf({ secrets: invalid }), 'Meteor.settings.ai.secrets'],
      [problemOf({}, { AI_SECRET_KEYS: invalid }), 'AI_SECRET_KEYS'],
      [problemOf({ secrets: '' }, { AI_SECRET_KEYS: invalid }), 'AI_SECRET_KEYS'],
    ] as const) {
      expect(problem.message).to.equal(`The sealing keys in ${name} are invalid: key "k1" has 9 bytes instead of 32.`);
      expect(problem.message).to.not.contain(invalid.slice(3));
    }
  });

  for (const [title, firstUser, field] of [
    ['a user who is no object', 'boss', ''],
    ['an address that is no text', { ...BOSS, email: { $gt: '' } }, 'email'],
    ['an address without a domain', { ...BOSS, email: 'boss' }, 'email'],
    ['a short password', { ...BOSS, password: 'hunter2' }, 'password'],
  ] as const) {
    it(`rejects ${title} as the first user, without quoting a password`, () => {
      const { path, message } = problemOf({ secrets: SECRETS, firstUser });
      expect(path).to.equal(field === '' ? 'settings.ai.firstUser' : `settings.ai.firstUser.${field}`);
      expect(message).to.not.contain('hunter2');
    });
  }

  describe('settings.example.json', () => {
    const example = (JSON.parse(readFileSync('settings.example.json', 'utf8')) as { ai: Record<string, unknown> }).ai;
    const values: Readonly<Record<string, unknown>> = {
      secrets: SECRETS,
      admins: [BOSS.email],
      firstUser: BOSS,
      OPENAI_API_KEY: 'sk-of-the-operator',
    };

    it('is rejected as it is, with the name of every value to replace', () => {
      const { message } = problemOf(example);
      const named = [...message.matchAll(/Meteor\.settings\.ai\.(\S+) still has the value/g)].map(([, name]) => name);
      expect(named).to.deep.equal(['secrets', 'admins[0]', 'firstUser.email', 'firstUser.password', 'OPENAI_API_KEY']);
      expect(message).to.match(/^5 settings are invalid/);
    });

    it('is printed as one list, without stacks and fields of errors', () => {
      const problem = problemOf(example);
      expect(inspect(problem)).to.equal(`[InvalidSettingsError: ${problem.message}]`);
    });

    for (const field of Object.keys(values)) {
      it(`is rejected while ${field} has the example's value`, () => {
        const { path } = problemOf({ ...example, ...values, [field]: example[field] });
        expect(path).to.match(new RegExp(`^settings\\.ai\\.${field}\\b`));
      });
    }

    it('is valid once all of them are replaced', () => {
      const settings = readMeteorSettings({ ...example, ...values }, {});
      expect(settings.firstUser).to.deep.equal(BOSS);
      expect(settings.callLimits).to.deep.equal({ model: 300, command: 1200 });
    });
  });
});
