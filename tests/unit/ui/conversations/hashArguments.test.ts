import { expect } from 'chai';
import { argumentsHash } from '../../../../imports/business/ai/application/services/shared/argumentsHash';
import { hashArguments } from '../../../../imports/ui/conversations/hashArguments';

describe('hashArguments', () => {
  it('returns the hash that the agentic loop expects in an approval', async () => {
    for (const text of ['{}', '{"to":"ännä 🚀"}']) expect(await hashArguments(text)).to.equal(argumentsHash(text));
  });
});
