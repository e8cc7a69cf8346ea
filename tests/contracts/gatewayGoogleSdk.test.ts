/** Every method of Google's SDKs that the gateway serves, with every vendor behind it. */
import { expect } from 'chai';
import { startGateway } from '../support/gateway';
import { GENERATIVE_AI_CASES, generativeModelOf } from '../support/sdks/generativeAICases';
import { GOOGLE_GENAI_CASES } from '../support/sdks/googleGenAICases';
import { describeSdk } from '../support/sdks/SdkCase';

describeSdk('Google’s SDK @google/genai', GOOGLE_GENAI_CASES);
describeSdk('Google’s SDK @google/generative-ai', GENERATIVE_AI_CASES);

describe('Google’s SDK @google/generative-ai, embeddings', () => {
  for (const model of ['google/gemini-embedding-001', 'openai/text-embedding-3-small'])
    it(`embedContent and batchEmbedContents return the vectors of ${model}`, async () => {
      const gateway = await startGateway();
      try {
        const client = generativeModelOf({ gateway, model });
        const { embedding } = await client.embedContent('one');
        const content = { role: 'user', parts: [{ text: 'one' }] };
        const { embeddings } = await client.batchEmbedContents({ requests: [{ content }, { content }] });
        expect(embedding.values.length).to.be.greaterThan(1);
        expect(embeddings).to.have.length(2);
        expect(embeddings[0]?.values).to.have.length(embedding.values.length);
      } finally {
        await gateway.close();
      }
    });
});
