/** Every method of Groq's SDK that the gateway serves, with every vendor behind it. */
import { expect } from 'chai';
import { startGateway } from '../support/gateway';
import { GROQ_CASES, groqOf } from '../support/sdks/groqCases';
import { describeSdk } from '../support/sdks/SdkCase';

describeSdk('Groq’s SDK', GROQ_CASES);

describe('Groq’s SDK, embeddings', () => {
  it('embeddings.create returns a vector of each text', async () => {
    const gateway = await startGateway();
    try {
      const model = 'google/gemini-embedding-001';
      const { data } = await groqOf({ gateway }).embeddings.create({ model, input: ['one', 'two'] });
      expect(data.map(({ embedding }) => Array.isArray(embedding))).to.deep.equal([true, true]);
    } finally {
      await gateway.close();
    }
  });
});
