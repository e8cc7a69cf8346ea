/** The setting of the guardrails that Bolide has itself. */
import { expect } from 'chai';
import { LLMInvalidRequestError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { guardrailSettings } from '../../../../imports/business/guardrails/guardrailSettings';
import { readSettings } from '../../../../imports/host/settings/defineSettings';

const readGuardrails = (given: unknown) => readSettings(guardrailSettings, () => given).guardrails;

describe('GUARDRAILS', () => {
  it('turns none on by default', () => {
    expect(readGuardrails(undefined)).to.equal(undefined);
    expect(readGuardrails('{}')).to.deep.equal([]);
  });

  it('reads JSON and objects', () => {
    for (const given of ['{ "pii": {}, "maximumSize": { "tokens": 9 } }', { pii: {}, maximumSize: { tokens: 9 } }])
      expect(readGuardrails(given)?.map(({ name }) => name)).to.deep.equal(['maximum-size', 'pii']);
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
