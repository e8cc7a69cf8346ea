import { expect } from 'chai';
import { LLMInvalidRequestError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { limitSettings } from '../../../../imports/business/limits/limitSettings';
import { readSettings } from '../../../../imports/host/settings/defineSettings';

const read = (variables: Readonly<Record<string, string>>) =>
  readSettings(limitSettings, (name) => variables[name]).userLimits;

describe('settings of limits', () => {
  it('reads whole numbers, where 0 limits nothing, and leaves the rest to the defaults', () => {
    expect(read({})).to.deep.equal({});
    expect(read({ USER_REQUESTS_PER_MINUTE: '60', USER_TOKENS_PER_MINUTE: '0' })).to.deep.equal({
      requestsPerMinute: 60,
      tokensPerMinute: Infinity,
    });
    expect(read({ USER_PARALLEL_CALLS: '1', USER_CONNECTIONS: '2', USER_QUEUED_MESSAGES: '3' })).to.deep.equal({
      parallelCalls: 1,
      connections: 2,
      queuedMessages: 3,
    });
  });

  it('names every invalid variable', () => {
    expect(() => read({ USER_CONNECTIONS: '-1', USER_PARALLEL_CALLS: '1.5' })).to.throw(
      LLMInvalidRequestError,
      '2 settings',
    );
    expect(() => read({ USER_QUEUED_MESSAGES: 'many' })).to.throw(LLMInvalidRequestError, 'whole number');
  });
});
