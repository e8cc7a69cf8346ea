/** Settings that limit or check nothing because they are misspelt, or stand where nobody reads them. */
import { expect } from 'chai';
import { LLMManager } from '../../../../../imports/business/ai/application/services/LLMManager';
import type { LLMManagerOptions } from '../../../../../imports/business/ai/application/services/LLMManager';
import { createAIModule } from '../../../../../imports/business/ai/infrastructure/factories/createAIModule';
import type {
  AIModulePorts,
  AIModuleSettings,
} from '../../../../../imports/business/ai/infrastructure/factories/createAIModule';

import { ScriptedProvider } from '../../../../../imports/testing/ScriptedProvider';

const PROVIDERS = { providers: [{ vendor: 'openai', apiKey: 'any' }] } as const;

describe('createAIModule', () => {
  const WRONG: Readonly<Record<string, unknown>> = {
    guardrails: { guardrails: [] },
    budget: { budget: { day: { calls: 1 } } },
    'budgets.daily': { budgets: { daily: { calls: 1 } } },
    'budgets.day.call': { budgets: { day: { call: 1 } } },
    'budgets.month.money': { budgets: { month: { money: -1 } } },
    'budgets.day.calls': { budgets: { day: { calls: Number.NaN } } },
    'budgets.users.ann.day.tokens': { budgets: { users: { ann: { day: { tokens: '5' } } } } },
  };
  for (const [path, settings] of Object.entries(WRONG))
    it(`refuses the setting ${path}`, () => {
      expect(() => createAIModule({ ...PROVIDERS, ...(settings as AIModuleSettings) }))
        .to.throw()
        .that.includes({ code: 'invalid-request', path });
    });

  it('refuses an unknown port, as LLMManager does an unknown option', () => {
    const provider = new ScriptedProvider([]);
    const wrong: readonly (readonly [string, () => unknown])[] = [
      ['guardrail', () => createAIModule(PROVIDERS, { guardrail: [] } as AIModulePorts)],
      ['guardrails', () => new LLMManager({ provider, guardrails: [] } as LLMManagerOptions)],
    ];
    for (const [path, create] of wrong)
      expect(create).to.throw(`Unknown field "${path}"`).that.includes({ code: 'invalid-request', path });
  });

  const GUARDRAILS: Readonly<Record<string, unknown>> = {
    'whose hook is misspelt': [{ name: 'mine', befor: () => undefined }],
    'whose hook is no function': [{ name: 'mine', before: 'deny' }],
    'that is null': [null],
  };
  for (const [what, guardrails] of Object.entries(GUARDRAILS))
    it(`refuses a guardrail ${what}`, () => {
      expect(() => createAIModule(PROVIDERS, { guardrails } as AIModulePorts))
        .to.throw()
        .that.includes({ code: 'invalid-request', path: 'guardrails[0]' });
    });
});
