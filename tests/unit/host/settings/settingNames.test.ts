import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { LLMInvalidRequestError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { readMeteorSettings } from '../../../../imports/host/settings/meteor';
import { readServerSettings } from '../../../../imports/host/settings/server';
import { editDistance } from '../../../../imports/host/settings/settingNames';
import { VARIABLES } from '../../../../imports/host/settings/settingTables';
import { newKey } from '../../../support/oauth/ProvidersHost';

function messageOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof LLMInvalidRequestError) return error.message;
    throw error;
  }
  return '';
}

describe('the names of settings', () => {
  it('are those of one setting each', () => {
    expect(new Set(VARIABLES).size).to.equal(VARIABLES.length);
  });

  it('are compared by what was mistyped', () => {
    expect(editDistance('RUNS', 'RUNS')).to.equal(0);
    expect(editDistance('JOBS', 'JBOS')).to.equal(1);
    expect(editDistance('', 'AI')).to.equal(2);
    expect(editDistance('CONCURENCY', 'CONCURRENCY')).to.equal(1);
  });
});

describe('readServerSettings', () => {
  it('names everything that is invalid or misspelt in one error, each once', () => {
    const message = messageOf(() =>
      readServerSettings({
        PORT: 'http',
        BOLIDE_TOKEN: 'a',
        AI_SECRET_KEY: 'b',
        AI_ALLOW_PRIVATE_HOSTS: 'https://x',
        RUNS_KEEP_DAY: '1',
        JOBS_CONCURENCY: '2',
        JOBS_ENGINE: 'cron',
        RUNS_KEEP_DAYS: '-1',
        LLM_TEMPERATURE: 'hot',
        AI_SEAL_CONTENT: 'perhaps',
        ROOT_URL: 'nowhere',
        OIDC_CLIENT_IDS: 'x',
        LLM_PROVIDR: 'openai',
      }),
    );
    const lines = message.split('\n');
    expect(lines[0]).to.equal('13 settings are invalid:');
    for (const name of [
      'PORT',
      'AI_ALLOW_PRIVATE_HOSTS',
      'JOBS_ENGINE',
      'RUNS_KEEP_DAYS',
      'AI_SEAL_CONTENT',
      'ROOT_URL',
    ])
      expect(lines.filter((line) => line.startsWith(`- ${name} `))).to.have.length(1);
    expect(message).to.contain('LLM_TEMPERATURE must be a number from 0 to 2, but is "hot"');
    for (const [wrong, right] of [
      ['BOLIDE_TOKEN', 'BOLIDE_API_TOKEN'],
      ['AI_SECRET_KEY', 'AI_SECRET_KEYS'],
      ['RUNS_KEEP_DAY', 'RUNS_KEEP_DAYS'],
      ['JOBS_CONCURENCY', 'JOBS_CONCURRENCY'],
      ['OIDC_CLIENT_IDS', 'OIDC_CLIENT_ID'],
      ['LLM_PROVIDR', 'LLM_PROVIDER'],
    ])
      expect(lines).to.include(`- ${wrong} is not a variable of the server. Did you mean ${right}?`);
  });

  it('leaves the variables of other programs alone', () => {
    const others = [
      'AI_GATEWAY_URL',
      'JOBS_ENGINE_URL',
      'RUNS_ON',
      'USER_NAME',
      'BOLIDE_SOAK',
      'BOLIDE_SEED',
      'HTTP_PROXY',
    ];
    expect(messageOf(() => readServerSettings(Object.fromEntries(others.map((name) => [name, 'x']))))).to.equal('');
    // An empty one is not set.
    expect(messageOf(() => readServerSettings({ JOBS_CONCURENCY: '' }))).to.equal('');
  });
});

describe('readMeteorSettings', () => {
  it('names every setting that there is not, and what may have been meant', () => {
    const settings = { secrets: newKey('k1'), admin: ['ann'], jobs_concurrency: 2, colour: 'red', PORT: 3 };
    const message = messageOf(() => readMeteorSettings(settings, { RUNS_KEEP_DAY: '1' }));
    expect(message.split('\n').slice(1)).to.have.members([
      '- Meteor.settings.ai.admin is not a setting. Did you mean admins?',
      '- Meteor.settings.ai.jobs_concurrency is not a setting. Did you mean JOBS_CONCURRENCY?',
      '- Meteor.settings.ai.colour is not a setting. Remove it.',
      '- Meteor.settings.ai.PORT is not a setting. It is read from the environment only.',
      '- RUNS_KEEP_DAY is not a variable of the server. Did you mean RUNS_KEEP_DAYS?',
    ]);
  });

  it('accepts every field of the reference', () => {
    const page = readFileSync(join(__dirname, '../../../../docs/reference/configuration.md'), 'utf8');
    const table = /\n\| field \|.*\n.*\n((?:\|.*\n)+)/.exec(page)?.[1] ?? '';
    const fields = [...table.matchAll(/^\| `(\w+)`/gm)].map(([, name = '']) => name);
    expect(fields).to.include.members(['secrets', 'models']);
    const settings = Object.fromEntries(fields.map((name) => [name, null]));
    expect(messageOf(() => readMeteorSettings({ ...settings, secrets: newKey('k1') }, {}))).to.equal('');
  });
});
