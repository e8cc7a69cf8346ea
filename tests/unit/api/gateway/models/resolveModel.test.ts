import { expect } from 'chai';
import { resolveModel } from '../../../../../imports/api/gateway/models/resolveModel';
import type { ModelCandidate } from '../../../../../imports/api/gateway/models/resolveModel';
import { LLMModelNotFoundError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';

const OPENAI: ModelCandidate = { id: 'openai', vendor: 'openai' };
const CLAUDE: ModelCandidate = { id: 'claude', vendor: 'anthropic' };
const GROQ: ModelCandidate = { id: 'groq', vendor: 'groq' };
const LLAMA: ModelCandidate = { id: 'llama', vendor: 'llama' };
const LOCAL: ModelCandidate = { id: 'local', vendor: 'openai_compatible' };
const ALL = [OPENAI, CLAUDE, GROQ, LLAMA, LOCAL];

describe('resolveModel', () => {
  for (const [requested, expected] of [
    ['openai/gpt-5', { providerId: 'openai', model: 'gpt-5' }],
    ['openai', { providerId: 'openai' }],
    ['openai/', { providerId: 'openai' }],
    ['claude/openai/odd', { providerId: 'claude', model: 'openai/odd' }],
    // A first path segment that is an id takes precedence, even if another vendor has a model of that name.
    ['openai/gpt-oss-120b', { providerId: 'openai', model: 'gpt-oss-120b' }],
    ['groq/openai/gpt-oss-120b', { providerId: 'groq', model: 'openai/gpt-oss-120b' }],
    ['gpt-5.4-mini', { providerId: 'openai', model: 'gpt-5.4-mini' }],
    ['gpt-99-of-the-future', { providerId: 'openai', model: 'gpt-99-of-the-future' }],
    ['o4-mini', { providerId: 'openai', model: 'o4-mini' }],
    ['ft:gpt-4o-mini:acme::x', { providerId: 'openai', model: 'ft:gpt-4o-mini:acme::x' }],
    ['claude-sonnet-4-5', { providerId: 'claude', model: 'claude-sonnet-4-5' }],
    ['moonshotai/kimi-k2', { providerId: 'groq', model: 'moonshotai/kimi-k2' }],
    [undefined, { providerId: 'openai' }],
  ] as const) {
    it(`finds the provider of ${String(requested)}`, () => {
      expect(resolveModel(requested, ALL)).to.deep.equal(expected);
    });
  }

  it('prefers a provider that allows exactly this model over one whose patterns match', () => {
    const curated: ModelCandidate = { id: 'curated', vendor: 'azure_openai', allowedModels: ['gpt-5', 'own-name'] };
    expect(resolveModel('gpt-5', [OPENAI, curated])).to.deep.equal({ providerId: 'curated', model: 'gpt-5' });
    expect(resolveModel('own-name', [OPENAI, curated])).to.deep.equal({ providerId: 'curated', model: 'own-name' });
    expect(resolveModel('gpt-5-mini', [OPENAI, curated])).to.deep.equal({ providerId: 'openai', model: 'gpt-5-mini' });
  });

  it('finds the provider whose own patterns match', () => {
    const local: ModelCandidate = { ...LOCAL, modelPatterns: ['^qwen', '-instruct$'] };
    expect(resolveModel('Qwen3-32b', [OPENAI, local])).to.deep.equal({ providerId: 'local', model: 'Qwen3-32b' });
    expect(resolveModel('phi-instruct', [OPENAI, local])).to.deep.equal({ providerId: 'local', model: 'phi-instruct' });
  });

  it('chooses the only provider for every model that it does not exclude', () => {
    expect(resolveModel('anything', [LOCAL])).to.deep.equal({ providerId: 'local', model: 'anything' });
    expect(() => resolveModel('anything', [{ ...LOCAL, allowedModels: ['this'] }])).to.throw(
      LLMModelNotFoundError,
      "'local/this'",
    );
    expect(() => resolveModel('anything', [{ ...LOCAL, modelPatterns: ['^this'] }])).to.throw(LLMModelNotFoundError);
  });

  it('throws with the candidates if several providers are possible', () => {
    expect(() => resolveModel('llama-3.3-70b', ALL))
      .to.throw(LLMModelNotFoundError)
      .that.satisfies(
        ({ message }: Error) =>
          message.includes("'groq/llama-3.3-70b', 'llama/llama-3.3-70b'") && !message.includes('claude'),
      );
    expect(() => resolveModel('mystery', ALL)).to.throw(LLMModelNotFoundError, "'openai/mystery', 'claude/mystery'");
  });

  it('rejects a model that its provider does not allow, by whatever name', () => {
    const curated = { ...OPENAI, allowedModels: ['gpt-5'] };
    expect(() => resolveModel('openai/gpt-4', [curated, CLAUDE])).to.throw(LLMModelNotFoundError, "'openai/gpt-5'");
    expect(() => resolveModel('gpt-4', [curated, CLAUDE])).to.throw(LLMModelNotFoundError);
  });

  it('rejects every model without providers, and a name of a megabyte', () => {
    expect(() => resolveModel('gpt-5', [])).to.throw(LLMModelNotFoundError);
    expect(() => resolveModel('x'.repeat(1_000_000), ALL))
      .to.throw(LLMModelNotFoundError)
      .that.satisfies(({ message }: Error) => message.length < 200);
  });

  it('limits the length of the error message', () => {
    const many = Array.from({ length: 200 }, (_value, index): ModelCandidate => ({
      id: `p${index}`,
      vendor: 'openai_compatible',
    }));
    expect(() => resolveModel('mystery', many))
      .to.throw(LLMModelNotFoundError)
      .that.satisfies(({ message }: Error) => message.length < 1_000 && message.endsWith('….'));
  });
});
