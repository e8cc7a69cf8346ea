import { expect } from 'chai';
import { LLMInvalidRequestError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { readSettings } from '../../../../imports/host/settings/defineSettings';
import { storageSettings } from '../../../../imports/host/settings/host';

const read = (variables: Readonly<Record<string, string>>) =>
  readSettings(storageSettings, (name) => variables[name]).storage;

describe('settings of storage', () => {
  it('reads megabytes, and leaves the rest to the database', () => {
    expect(read({})).to.deep.equal({});
    expect(read({ STORAGE_MB_PER_USER: '0.5' })).to.deep.equal({ perUser: 524_288 });
    expect(read({ STORAGE_MB_PER_USER: '1', STORAGE_MB: '2' })).to.deep.equal({ perUser: 1_048_576, total: 2_097_152 });
  });

  it('names every invalid variable', () => {
    expect(() => read({ STORAGE_MB_PER_USER: '0', STORAGE_MB: 'much' })).to.throw(LLMInvalidRequestError, '2 settings');
    expect(() => read({ STORAGE_MB: '-1' })).to.throw(LLMInvalidRequestError, 'STORAGE_MB must be a number');
  });
});
