/** The setting that seals content. */
import { expect } from 'chai';
import { LLMInvalidRequestError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { privacySettings, requireSealingKeys } from '../../../../imports/business/privacy/privacySettings';
import { readSettings } from '../../../../imports/host/settings/defineSettings';

const read = (value?: string): boolean => readSettings(privacySettings, () => value).sealContent ?? false;

describe('AI_SEAL_CONTENT', () => {
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
