import { expect } from 'chai';
import { withoutSecrets } from '../../../../imports/business/providers/domain/withoutSecrets';

describe('withoutSecrets', () => {
  it('redacts every quotation of every secret', () => {
    const text = 'The code c0de-123 is invalid: c0de-123 was used with st4te-456 (c0de-123).';
    expect(withoutSecrets(text, ['c0de-123', undefined, null, 'st4te-456'])).to.equal(
      'The code [redacted] is invalid: [redacted] was used with [redacted] ([redacted]).',
    );
  });

  it('leaves out what may be an ordinary word', () => {
    expect(withoutSecrets('The state is open.', ['open', ''])).to.equal('The state is open.');
  });
});
