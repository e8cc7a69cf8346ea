/** The settings of the request log. */
import { expect } from 'chai';
import { LLMInvalidRequestError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { requestLogSettings } from '../../../../imports/business/requestLog/requestLogSettings';
import { readSettings } from '../../../../imports/host/settings/defineSettings';

const read = (variables: Readonly<Record<string, string>>) =>
  readSettings(requestLogSettings, (name) => variables[name]).requestLog;
const DAY = 86_400_000;

describe('settings of the request log', () => {
  it('leaves everything to the defaults', () => {
    expect(read({})).to.deep.equal({ retention: {} });
  });

  it('reads every variable', () => {
    const variables = {
      REQUEST_LOG: 'OFF',
      REQUEST_LOG_BODIES: 'on',
      REQUEST_LOG_KEEP_DAYS: '90',
      REQUEST_LOG_BODIES_KEEP_DAYS: '0.5',
      REQUEST_LOG_MAX_ENTRIES: '1000',
    };
    expect(read(variables)).to.deep.equal({
      isEnabled: false,
      bodies: true,
      maxEntries: 1_000,
      retention: { entries: 90 * DAY, bodies: DAY / 2 },
    });
  });

  it('names every invalid variable', () => {
    const variables = {
      REQUEST_LOG: 'yes',
      REQUEST_LOG_BODIES: '1',
      REQUEST_LOG_KEEP_DAYS: '0',
      REQUEST_LOG_BODIES_KEEP_DAYS: 'long',
      REQUEST_LOG_MAX_ENTRIES: '0.5',
    };
    expect(() => read(variables))
      .to.throw(LLMInvalidRequestError)
      .with.property('message')
      .that.includes('5 settings');
    for (const [name, value] of Object.entries(variables))
      expect(() => read({ [name]: value }))
        .to.throw(LLMInvalidRequestError, name)
        .with.property('path', name);
  });
});
