/** Which requests are handled in stages. */
import { expect } from 'chai';
import { pauseFor } from '../../../../../imports/business/ai/infrastructure/providers/pauseFor';

const schemaOf = (properties: number): object => ({
  type: 'object',
  properties: Object.fromEntries(Array.from({ length: properties }, (_, index) => [`p${index}`, { type: 'string' }])),
});

describe('pauseFor', () => {
  it('pauses for long inputs, many tools and large schemas only', () => {
    const tool = { type: 'function', name: 't', parameters: schemaOf(3_000) };
    const small = { type: 'function', name: 't', parameters: schemaOf(100) };
    expect(pauseFor({ input: 'x', tools: [small, small] })).to.equal(undefined);
    expect(pauseFor({ input: 'x', tools: [small, tool] })).to.be.instanceOf(Promise);
    expect(pauseFor({ input: 'x', tools: Array.from({ length: 3_000 }, () => small) })).to.be.instanceOf(Promise);
    expect(pauseFor({ input: Array.from({ length: 3_000 }, () => 'x') })).to.be.instanceOf(Promise);
    const format = { type: 'json_schema', schema: schemaOf(3_000) };
    expect(pauseFor({ input: 'x', response_format: format })).to.be.instanceOf(Promise);
    expect(pauseFor({ input: 'x', response_format: { type: 'text' } })).to.equal(undefined);
  });
});
