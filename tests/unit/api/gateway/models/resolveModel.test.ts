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

describe('the provider behind a model', () => {
  for (const [asked, expected] of [
    ['openai/gpt-5', { providerId: 'openai', model: 'gpt-5' }],
    ['openai', { providerId: 'openai' }],
    ['openai/', { providerId: 'openai' }],
    ['claude/openai/odd', { providerId: 'claude', model: 'openai/odd' }],
    // A first segment that is an id wins, even where another vendor has a model of that name.
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
    it(`is found for ${String(asked)}`, () => {
      expect(resolveModel(asked, ALL)).to.deep.equal(expected);
    });
  }

  it('is whoever allows exactly that model, before whose patterns match', () => {
    const curated: ModelCandidate = { id: 'curated', vendor: 'azure_openai', allowedModels: ['gpt-5', 'own-name'] };
    expect(resolveModel('gpt-5', [OPENAI, curated])).to.deep.equal({ providerId: 'curated', model: 'gpt-5' });
    expect(resolveModel('own-name', [OPENAI, curated])).to.deep.equal({ providerId: 'curated', model: 'own-name' });
    expect(resolveModel('gpt-5-mini', [OPENAI, curated])).to.deep.equal({ providerId: 'openai', model: 'gpt-5-mini' });
  });

  it('is whoever’s own patterns match', () => {
    const local: ModelCandidate = { ...LOCAL, modelPatterns: ['^qwen', '-instruct$'] };
    expect(resolveModel('Qwen3-32b', [OPENAI, local])).to.deep.equal({ providerId: 'local', model: 'Qwen3-32b' });
    expect(resolveModel('phi-instruct', [OPENAI, local])).to.deep.equal({ providerId: 'local', model: 'phi-instruct' });
  });

  it('is the only one there is, for every model that it does not rule out', () => {
    expect(resolveModel('anything', [LOCAL])).to.deep.equal({ providerId: 'local', model: 'anything' });
    expect(() => resolveModel('anything', [{ ...LOCAL, allowedModels: ['this'] }])).to.throw(
      LLMModelNotFoundError,
      "'local/this'",
    );
    expect(() => resolveModel('anything', [{ ...LOCAL, modelPatterns: ['^this'] }])).to.throw(LLMModelNotFoundError);
  });

  it('is not guessed among several: the error names them', () => {
    expect(() => resolveModel('llama-3.3-70b', ALL))
      .to.throw(LLMModelNotFoundError)
      .that.satisfies(
        ({ message }: Error) =>
          message.includes("'groq/llama-3.3-70b', 'llama/llama-3.3-70b'") && !message.includes('claude'),
      );
    expect(() => resolveModel('mystery', ALL)).to.throw(LLMModelNotFoundError, "'openai/mystery', 'claude/mystery'");
  });

  it('has no model but those that it is allowed, by whatever name it is asked', () => {
    const curated = { ...OPENAI, allowedModels: ['gpt-5'] };
    expect(() => resolveModel('openai/gpt-4', [curated, CLAUDE])).to.throw(LLMModelNotFoundError, "'openai/gpt-5'");
    expect(() => resolveModel('gpt-4', [curated, CLAUDE])).to.throw(LLMModelNotFoundError);
  });

  it('is nobody for a caller who may use none, and for a name of megabytes', () => {
    expect(() => resolveModel('gpt-5', [])).to.throw(LLMModelNotFoundError);
    expect(() => resolveModel('x'.repeat(1_000_000), ALL))
      .to.throw(LLMModelNotFoundError)
      .that.satisfies(({ message }: Error) => message.length < 200);
  });

  it('is asked about in bounded words', () => {
    const many = Array.from({ length: 200 }, (_value, index): ModelCandidate => ({
      id: `p${index}`,
      vendor: 'openai_compatible',
    }));
    expect(() => resolveModel('mystery', many))
      .to.throw(LLMModelNotFoundError)
      .that.satisfies(({ message }: Error) => message.length < 1_000 && message.endsWith('….'));
  });
});
