import { expect } from 'chai';
import { parseToolArguments } from '../../../../../../imports/business/ai/application/services/tools/parseToolArguments';
import { ToolError } from '../../../../../../imports/business/ai/domain/errors/LLMErrors';

function failureOf(text: string): ToolError {
  try {
    parseToolArguments(text);
  } catch (error) {
    if (error instanceof ToolError) return error;
    throw error;
  }
  throw new Error(`'${text.slice(0, 40)}' was accepted`);
}

describe('parseToolArguments', () => {
  it('parses empty text as no arguments', () => {
    expect(parseToolArguments('')).to.deep.equal({});
    expect(parseToolArguments('  \n')).to.deep.equal({});
  });

  it('parses JSON, and JSON that was encoded twice', () => {
    expect(parseToolArguments('{"city":"Paris"}')).to.deep.equal({ city: 'Paris' });
    expect(parseToolArguments(JSON.stringify('{"city":"Paris"}'))).to.deep.equal({ city: 'Paris' });
  });

  it('leaves a string that contains no JSON unchanged', () => {
    expect(parseToolArguments('"Paris"')).to.equal('Paris');
  });

  it('reports where the text is not JSON', () => {
    const error = failureOf('{"city": Paris}');
    expect(error.failure).to.equal('invalid-arguments');
    expect(error.message)
      .to.match(/not valid JSON/)
      .and.to.match(/Paris|position|token/i);
  });

  for (const key of ['__proto__', 'constructor', 'prototype']) {
    it(`refuses the key ${key} at any depth, also in doubly encoded text`, () => {
      const text = `{"list":[{"deep":{"${key}":{"polluted":true}}}]}`;
      expect(failureOf(text).message).to.contain(key).and.to.contain('$.list[0].deep');
      expect(failureOf(JSON.stringify(text)).message).to.contain(key);
      expect(({} as Record<string, unknown>)['polluted']).to.equal(undefined);
    });
  }

  it('refuses nesting that could exhaust the stack', () => {
    expect(failureOf('['.repeat(5_000) + ']'.repeat(5_000)).message).to.contain('64');
  });
});
