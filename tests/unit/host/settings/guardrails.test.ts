/** The setting of the guardrails that Bolide has itself. */
import { expect } from 'chai';
import { LLMInvalidRequestError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { readGuardrails } from '../../../../imports/business/guardrails/settings/guardrails';

describe('readGuardrails', () => {
  it('turns none on by default', () => {
    expect(readGuardrails(undefined)).to.deep.equal([]);
    expect(readGuardrails('{}')).to.deep.equal([]);
  });

  it('reads JSON and objects', () => {
    for (const given of ['{ "pii": {}, "maximumSize": { "tokens": 9 } }', { pii: {}, maximumSize: { tokens: 9 } }])
      expect(readGuardrails(given).map(({ name }) => name)).to.deep.equal(['maximum-size', 'pii']);
  });

  for (const [given, path] of [
    ['pii', 'GUARDRAILS'],
    ['[]', 'GUARDRAILS'],
    ['{ "pii": { "types": "email" } }', 'GUARDRAILS.pii.types'],
    [7, 'GUARDRAILS'],
  ] as const)
    it(`refuses ${String(given)}`, () => {
      expect(() => readGuardrails(given))
        .to.throw(LLMInvalidRequestError, path)
        .with.property('path', path);
    });
});
