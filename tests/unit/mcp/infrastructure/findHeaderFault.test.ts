/** Arguments as HTTP headers: https://modelcontextprotocol.io/specification/2026-07-28/basic/transports */
import { expect } from 'chai';
import { findHeaderFault } from '../../../../imports/business/mcp/infrastructure/findHeaderFault';

const text = (name: unknown): object => ({ type: 'string', 'x-mcp-header': name });

describe('findHeaderFault', () => {
  it('accepts headers on properties, and schemas without any', () => {
    for (const properties of [
      {},
      {
        region: text('Region'),
        nested: { type: 'object', properties: { id: { type: 'integer', 'x-mcp-header': 'Id' } } },
      },
      { 'x-mcp-header': { type: 'string' }, example: { type: 'object', examples: [{ 'x-mcp-header': 1 }] } },
    ])
      expect(findHeaderFault({ type: 'object', properties }), JSON.stringify(properties)).to.equal(undefined);
  });

  it('says what is wrong with others', () => {
    for (const [properties, fault] of [
      [{ a: text('') }, 'not the name of a header'],
      [{ a: text(7) }, 'not the name of a header'],
      [{ a: text('two words') }, 'not the name of a header'],
      [{ a: { type: 'number', 'x-mcp-header': 'A' } }, 'no string, integer or boolean'],
      [{ a: text('Same'), b: text('same') }, 'two properties have the same'],
      [{ a: { type: 'array', items: text('A') } }, 'not on a property of its own'],
      [{ a: { oneOf: [text('A')] } }, 'not on a property of its own'],
      [{ a: { additionalProperties: text('A') } }, 'not on a property of its own'],
    ] as const)
      expect(findHeaderFault({ type: 'object', properties }), JSON.stringify(properties)).to.include(fault);
    expect(findHeaderFault({ type: 'object', 'x-mcp-header': 'A' })).to.include('not on a property of its own');
  });
});
