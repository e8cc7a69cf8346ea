/** Looks tools up by type and name. */
import { expect } from 'chai';
import { ToolNames } from '../../../../../imports/business/ai/domain/entities/ToolNames';

describe('ToolNames', () => {
  it('has the tools of a type by name, and all of a type that is given without a name', () => {
    const names = new ToolNames([{ type: 'function', name: 'a' }, { type: 'web_search' }]);
    expect(names.has({ type: 'function', name: 'a' })).to.equal(true);
    expect(names.has({ type: 'function', name: 'b' })).to.equal(false);
    expect(names.has({ type: 'web_search', name: 'any' })).to.equal(true);
    expect(names.has({ type: 'mcp' })).to.equal(false);
    expect([names.hasType('function'), names.hasType('mcp')]).to.deep.equal([true, false]);
  });
});
