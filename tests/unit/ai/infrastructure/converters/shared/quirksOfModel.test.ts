import { expect } from 'chai';
import { quirksOfModel } from '../../../../../../imports/business/ai/infrastructure/converters/shared/quirksOfModel';
import { DEFAULT_QUIRKS } from '../../../../../../imports/business/ai/infrastructure/vendors/defaultQuirks';

describe('quirksOfModel', () => {
  it('returns the same object for the same model, so that a conversation is not converted anew in each turn', () => {
    const quirks = { ...DEFAULT_QUIRKS, modelRules: [{ models: '^old', quirks: { unsupportedFields: ['seed'] } }] };
    const old = quirksOfModel(quirks, 'old-1');
    expect(old.unsupportedFields).to.include('seed');
    expect(quirksOfModel(quirks, 'old-1')).to.equal(old);
  });
});
