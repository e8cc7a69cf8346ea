import { expect } from 'chai';
import { agent } from '../../../imports/library/Agent';
import { tool } from '../../../imports/library/tool';
import { LLMRateLimitError } from '../../../imports/business/ai/domain/errors/LLMErrors';
import { answer, calling } from '../../../imports/testing/responses';
import { ScriptedProvider } from '../../../imports/testing/ScriptedProvider';
import { failure } from '../../support/failure';

const OPTIONS = { model: 'any', input: 'Hello' };

describe('ScriptedProvider', () => {
  it('plays an agent’s run without network, and records what the model was given', async () => {
    const provider = new ScriptedProvider([
      calling({ name: 'double', arguments: { number: 21 } }),
      ({ input }) => `It is ${JSON.stringify(input).includes('"42"') ? 'forty-two' : 'unknown'}.`,
    ]);
    const double = tool({
      name: 'double',
      description: 'Doubles a number.',
      parameters: { type: 'object', properties: { number: { type: 'number' } }, required: ['number'] },
      execute: ({ number }) => number * 2,
    });
    const { text } = await agent({ provider, tools: [double] }).generate('Double 21.');
    expect(text).to.equal('It is forty-two.');
    expect(provider.calls.map(({ kind, userId }) => [kind, userId])).to.deep.equal([
      ['generate', 'local'],
      ['generate', 'local'],
    ]);
    provider.assertPlayedOut();
  });

  it('answers with a text, a response or an error, in the order of the script', async () => {
    const limit = new LLMRateLimitError('Slow down.');
    const provider = new ScriptedProvider(['One.', answer('Two.'), limit]);
    expect((await provider.generate('u1', OPTIONS)).output_text).to.equal('One.');
    const deltas: string[] = [];
    for await (const event of provider.stream('u1', OPTIONS))
      if (event.type === 'response.output_text.delta') deltas.push(event.delta);
    expect(deltas.join('')).to.equal('Two.');
    expect(await failure(provider.generate('u1', OPTIONS))).to.equal(limit);
  });

  it('fails for a call that is not in the script, and for a step that was not played', async () => {
    const provider = new ScriptedProvider(['Once.']);
    expect(() => provider.assertPlayedOut()).to.throw('The script has 1 steps, but there were 0 calls.');
    await provider.generate('u1', OPTIONS);
    expect(await failure(provider.generate('u1', OPTIONS)))
      .to.have.property('message')
      .that.includes('Unexpected call 2');
    expect(() => provider.assertPlayedOut()).to.throw('there were 2 calls');
  });
});
