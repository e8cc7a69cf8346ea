/** The setting that seals content. */
import { expect } from 'chai';
import { LLMInvalidRequestError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { readSealContent, requireSealingKeys } from '../../../../imports/business/privacy/settings/sealing';

const read = (value?: string): boolean => readSealContent(() => value);

describe('readSealContent', () => {
  it('is off unless it is switched on', () => {
    expect(read()).to.equal(false);
    expect(read('off')).to.equal(false);
    expect(read('ON')).to.equal(true);
  });

  it('rejects other values', () => {
    expect(() => read('yes'))
      .to.throw(LLMInvalidRequestError)
      .with.property('path', 'AI_SEAL_CONTENT');
  });

  it('requires keys that are not stored beside the data', () => {
    expect(() => requireSealingKeys(undefined))
      .to.throw(LLMInvalidRequestError)
      .with.property('path', 'AI_SECRET_KEYS');
    expect(() => requireSealingKeys('k1:…')).to.not.throw();
  });
});
