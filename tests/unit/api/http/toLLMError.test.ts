import { expect } from 'chai';
import { toLLMError } from '../../../../imports/api/http/toLLMError';

describe('toLLMError', () => {
  it("tells clients nothing of an error that is not the API's, whatever status it names", () => {
    const unexpected = Object.assign(new Error('The key sk-1 was refused.'), { status: 400 });
    const reported: unknown[] = [];
    const { httpStatus, message } = toLLMError(unexpected, (thrown) => reported.push(thrown));
    expect({ httpStatus, message }).to.deep.equal({ httpStatus: 500, message: 'Internal server error.' });
    expect(reported).to.deep.equal([unexpected]);
  });
});
